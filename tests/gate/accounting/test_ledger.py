"""The ledger: what is reserved, settled and refused; the same on SQLite and on PostgreSQL."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text

import veilset as vs
from veilset.errors import BadCall, LedgerUnavailable
from veilset.gate import Amount, Ledger, LedgerRefusal, LedgerWarning
from veilset.gate.accounting import ledger_account, ledger_database
from veilset.gate.accounting.ledger_balance import balances_of
from veilset.gate.accounting.ledger_database import _engine, ledger_url
from veilset.gate.accounting.ledger_entries import Entry, EntryExists, flaws_of_chain, storable

BASKETS = [["bread", "milk"]] * 60 + [["beer"]] * 40


@contextmanager
def behind_its_back(address: str) -> Iterator[Engine]:
    """The database of a ledger, for whoever wants to change it without asking."""
    engine = _engine(ledger_url(address))
    yield engine
    engine.dispose()


def price(epsilon: str | int, delta: str | int = 0) -> Amount:
    """An exact price."""
    return Amount(Fraction(epsilon), Fraction(delta))


def test_a_reservation_is_spent_until_it_is_settled(ledger_address: str) -> None:
    """Somebody else, with a connection of their own, sees it at once; then what was charged counts."""
    reserved = Ledger(ledger_address).dataset("stores", epsilon=4).reserve(price(1))
    other = Ledger(ledger_address).dataset("stores")
    assert other.left == price(3)
    reserved.settle(price("1/3"))
    assert other.left == price("11/3")
    assert other.spent == price("1/3")


def test_what_is_not_left_is_refused(ledger_address: str) -> None:
    """All of it can be spent, and nothing more; a refusal writes nothing."""
    ledger = Ledger(ledger_address)
    stores = ledger.dataset("stores", epsilon=1)
    stores.reserve(price("2/3"))
    number = len(ledger.entries())
    with pytest.raises(
        LedgerRefusal, match="asks for epsilon 1/2, but dataset 'stores' has epsilon 1/3 of"
    ) as told:
        stores.reserve(price("1/2"))
    assert told.value.left == price("1/3")
    assert len(ledger.entries()) == number
    stores.reserve(price("1/3"))
    assert stores.left == price(0)


def test_what_cannot_be_paid_is_told_before_the_data_is_read(ledger_address: str) -> None:
    """All that is left can be; what is more, or for a closed dataset, cannot. Nothing is written."""
    ledger = Ledger(ledger_address)
    stores = ledger.dataset("stores", epsilon=1)
    stores.check_affordable(price(1))
    with pytest.raises(LedgerRefusal, match="asks for epsilon 2, but dataset 'stores' has epsilon 1 of"):
        stores.check_affordable(price(2))
    ledger.close_dataset("stores")
    with pytest.raises(LedgerRefusal, match="is closed"):
        stores.check_affordable(price("1/2"))
    assert [entry.kind for entry in ledger.entries()] == ["create", "close"]


def test_delta_is_a_budget_of_its_own(ledger_address: str) -> None:
    """A dataset without delta pays for none."""
    ledger = Ledger(ledger_address)
    with pytest.raises(LedgerRefusal, match="delta 1e-09"):
        ledger.dataset("pure", epsilon=4).reserve(price(1, "1/1000000000"))
    mixed = ledger.dataset("mixed", epsilon=4, delta=2e-9)
    mixed.reserve(price(1, "1/1000000000"))
    assert mixed.left == price(3, "1/1000000000")


def test_thirds_add_up_to_one(ledger_address: str) -> None:
    """Sums are of fractions: three thirds are one, and a tenth ten times is, too."""
    ledger = Ledger(ledger_address)
    thirds, tenths = ledger.dataset("thirds", epsilon=1), ledger.dataset("tenths", epsilon="1")
    for _ in range(3):
        thirds.reserve(price("1/3"))
    for _ in range(10):
        tenths.reserve(price("0.1"))
    assert thirds.left == tenths.left == price(0)


def test_partitions_cost_what_the_most_expensive_costs(ledger_address: str) -> None:
    """The whole counts for everybody, a partition for its own people."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=1)
    for region in ("north", "south", "west"):
        stores.for_release(partition=region).reserve(price("1/2"))
    assert stores.left == price("1/2")
    stores.reserve(price("1/4"))
    assert stores.left == price("1/4")
    north = stores.for_release(partition="north")
    assert north.left == price("1/4")
    assert stores.for_release(partition="east").left == price("3/4")
    with pytest.raises(LedgerRefusal, match="for partition 'north'"):
        north.reserve(price("1/2"))


def test_the_same_people_pay_in_both_datasets(ledger_address: str) -> None:
    """What a linked dataset spends counts in the other, from its first release on."""
    ledger = Ledger(ledger_address)
    stores, online = ledger.dataset("stores", epsilon=1), ledger.dataset("online", epsilon=4)
    online.reserve(price("1/4"))
    online.for_release(same_people_as="stores").reserve(price("1/4"))
    assert stores.spent == price("1/2")
    online.reserve(price("1/4"))
    with pytest.raises(LedgerRefusal, match="dataset 'stores' has epsilon 1/4 of"):
        online.reserve(price("1/2"))
    with pytest.raises(BadCall, match="already"):
        stores.for_release(same_people_as="online").reserve(price("1/8"))
    with pytest.raises(BadCall, match="no dataset 'nobody'"):
        stores.for_release(same_people_as="nobody").reserve(price("1/8"))


def test_a_new_dataset_can_have_people_of_others_from_the_start(ledger_address: str) -> None:
    """What it spends counts for all of them; where one is not there, nothing is made."""
    ledger = Ledger(ledger_address)
    stores, online = ledger.dataset("stores", epsilon=1), ledger.dataset("online", epsilon=2)
    ledger.create("club", epsilon=4, same_people_as=["stores", "online"]).reserve(price("1/2"))
    assert (stores.spent, online.spent) == (price("1/2"), price("1/2"))
    assert ledger.dataset("club").left == price("1/2")
    with pytest.raises(BadCall, match="no dataset 'nobody'"):
        ledger.create("other", epsilon=1, same_people_as=["stores", "nobody"])
    assert "other" not in ledger.balances()
    assert ledger.flaws() == []


def test_data_under_a_second_name_is_refused(ledger_address: str) -> None:
    """Unless its owner says whose it is; the declaration is written down and asked for once."""
    ledger = Ledger(ledger_address)
    ledger.dataset("stores", epsilon=1).reserve(price("1/4"), data="abc")
    again = ledger.dataset("renamed", epsilon=1)
    with pytest.raises(BadCall, match=r"--same-people-as stores.*--different-people"):
        again.reserve(price("1/4"), data="abc")
    again.for_release(different_people=True).reserve(price("1/4"), data="abc")
    again.reserve(price("1/4"), data="abc")
    assert [entry.kind for entry in ledger.entries() if entry.dataset == "renamed"].count("declare") == 1
    third = ledger.dataset("third", epsilon=1)
    third.for_release(same_people_as="stores").reserve(price("1/4"), data="abc")
    assert ledger.dataset("stores").left == price("1/2")


def test_of_several_datasets_with_the_same_data_the_first_by_name_is_told(ledger_address: str) -> None:
    """In whichever order they read it."""
    ledger = Ledger(ledger_address)
    ledger.dataset("stores", epsilon=1).reserve(price("1/4"), data="abc")
    club = ledger.dataset("club", epsilon=1).for_release(same_people_as="stores")
    club.reserve(price("1/4"), data="abc")
    with pytest.raises(BadCall, match=r"read before, as dataset 'club': .*--same-people-as club "):
        ledger.dataset("renamed", epsilon=1).reserve(price("1/4"), data="abc")


def test_the_same_data_in_two_partitions_contradicts_that_they_do_not_overlap(ledger_address: str) -> None:
    """It may be read as the whole and as a part, which adds up; not as two parts."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=4)
    stores.reserve(price(1), data="abc")
    stores.for_release(partition="north").reserve(price(1), data="abc")
    with pytest.raises(BadCall, match="'stores', partition 'north'"):
        stores.for_release(partition="south").reserve(price(1), data="abc")


def test_other_data_under_a_name_is_a_warning(ledger_address: str) -> None:
    """Data grows; the owner may say that it is known."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stores.reserve(price(1), data="one")
        stores.reserve(price("1/2"), data="one")
        stores.for_release(same_people_as="stores").reserve(price("1/2"), data="two")
    with pytest.warns(LedgerWarning, match="dataset 'stores' had other data on"):
        stores.reserve(price(1), data="three")


def test_a_reference_is_charged_once(ledger_address: str) -> None:
    """A second release under it is refused, whether the first one was settled or not."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=4)
    weekly = stores.for_release(reference="week 46")
    reserved = weekly.reserve(price(1))
    with pytest.raises(BadCall, match="the reference 'week 46' was charged already"):
        weekly.reserve(price(1))
    reserved.settle(price(1))
    with pytest.raises(BadCall, match="the reference 'week 46' was charged already"):
        weekly.reserve(price(1))
    assert stores.left == price(3)


def test_settling_twice_changes_nothing(ledger_address: str) -> None:
    """As when the first try was written though the database could not say so."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=4)
    reserved = stores.reserve(price(1))
    reserved.settle(price("1/2"))
    reserved.settle(price(0))
    assert stores.spent == price("1/2")


def test_a_second_settlement_is_not_written(ledger_address: str) -> None:
    """Nor passed over in silence, for whoever writes entries one by one."""
    ledger = Ledger(ledger_address)
    settlement = replace(ledger.dataset("stores", epsilon=4).reserve(price(1)).entry, kind="settle")
    ledger.append(settlement)
    with pytest.raises(EntryExists):
        ledger.append(settlement)
    assert [entry.kind for entry in ledger.entries()] == ["create", "reserve", "settle"]


@pytest.mark.parametrize(
    ("answer", "state"),
    [(None, "running"), (PermissionError, "running"), (ProcessLookupError, "interrupted")],
)
def test_a_reservation_runs_as_long_as_its_process_does(
    answer: type[OSError] | None, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the process is somebody else's, which may not be asked."""
    stores = Ledger(str(tmp_path / "budget.db")).dataset("stores", epsilon=4)
    stores.for_release(reference="week 46").reserve(price(1))
    monkeypatch.setattr("os.kill", Mock(side_effect=answer))
    assert stores.balance.booked["week 46"].state == state


def test_a_lost_answer_to_a_reservation_is_looked_up(
    ledger_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction was written, then the connection broke: it is found again, and charged once."""
    ledger = Ledger(ledger_address)
    stores = ledger.dataset("stores", epsilon=4)
    whole, broken = ledger_database.LedgerDatabase.writing, [True]

    @contextmanager
    def breaks_after_commit(
        self: ledger_database.LedgerDatabase,
    ) -> Iterator[ledger_database.LedgerTransaction]:
        with whole(self) as under_lock:
            yield under_lock
        if broken and broken.pop():
            raise LedgerUnavailable("the connection broke")

    monkeypatch.setattr(ledger_database.LedgerDatabase, "writing", breaks_after_commit)
    stores.reserve(price(1))
    assert broken == []
    assert stores.left == price(3)


def test_more_than_was_reserved_cannot_be_settled(ledger_address: str) -> None:
    """That would be a look that nobody paid for: a mistake of ours."""
    reserved = Ledger(ledger_address).dataset("stores", epsilon=4).reserve(price(1))
    with pytest.raises(vs.BudgetExceeded, match="epsilon 2 was charged, but epsilon 1 was reserved"):
        reserved.settle(price(2))


def test_a_total_is_raised_with_a_reason(ledger_address: str) -> None:
    """And never lowered; the reason stays."""
    ledger = Ledger(ledger_address)
    stores = ledger.dataset("stores", epsilon=4)
    ledger.raise_total("stores", epsilon=6, reason="a second year")
    assert stores.total == price(6)
    assert ledger.entries()[-1].told == {"reason": "a second year"}
    for epsilon in (5, 6):
        with pytest.raises(BadCall, match="give a larger epsilon"):
            ledger.raise_total("stores", epsilon=epsilon, reason="less")
    with pytest.raises(BadCall, match="for a reason"):
        ledger.raise_total("stores", epsilon=7, reason=" ")
    with pytest.raises(BadCall, match="no dataset 'nobody'"):
        ledger.raise_total("nobody", epsilon=7, reason="none")


def test_a_closed_dataset_spends_nothing(ledger_address: str) -> None:
    """For good."""
    ledger = Ledger(ledger_address)
    stores = ledger.dataset("stores", epsilon=4)
    ledger.close_dataset("stores", reason="moved")
    with pytest.raises(LedgerRefusal, match="closed"):
        stores.reserve(price(1))
    with pytest.raises(BadCall, match="closed already"):
        ledger.close_dataset("stores")


def test_a_dataset_is_what_it_was_said_to_be(ledger_address: str) -> None:
    """Another total or unit is refused, a second `create`, too."""
    ledger = Ledger(ledger_address)
    ledger.dataset("stores", epsilon=4, unit="person")
    assert ledger.dataset("stores", epsilon="4.0").total == price(4)
    with pytest.raises(BadCall, match="may spend epsilon 4, not epsilon 5"):
        ledger.dataset("stores", epsilon=5)
    with pytest.raises(BadCall, match="protects one person"):
        ledger.dataset("stores", unit="transaction")
    with pytest.raises(BadCall, match="already"):
        ledger.create("stores", epsilon=4)
    with pytest.raises(BadCall, match="no dataset 'nobody'"):
        ledger.dataset("nobody")
    with pytest.raises(BadCall, match="this data would protect one transaction"):
        ledger.dataset("stores").reserve(price(1), unit="transaction")


def test_the_first_release_says_who_is_protected(ledger_address: str) -> None:
    """Where nobody said it before."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=4)
    stores.reserve(price(1), unit="transaction")
    with pytest.raises(BadCall, match="protects one transaction"):
        stores.reserve(price(1), unit="person")


@pytest.mark.parametrize("name", ["", " ", "a\nb", 5, None, b"bytes"])
def test_a_name_can_be_read(ledger_address: str, name: Any) -> None:  # noqa: ANN401 - odd names are tried
    """In a table, and on one line."""
    with pytest.raises(BadCall, match="is no name"):
        Ledger(ledger_address).create(name, epsilon=1)
    with pytest.raises(BadCall, match="is no name"):
        Ledger(ledger_address).dataset(name, epsilon=1)


@pytest.mark.parametrize(
    "odd",
    [{"partition": 1}, {"reference": 2}, {"same_people_as": ["a"]}, {"different_people": "no"}],
)
def test_what_is_said_of_a_release_is_checked(ledger_address: str, odd: dict[str, Any]) -> None:
    """Before anything is written."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=1)
    with pytest.raises(BadCall, match="give"):
        stores.for_release(**odd)


def test_an_allowance_stands_for_epsilon(ledger_address: str) -> None:
    """Where a release says none."""
    ledger = Ledger(ledger_address)
    weekly = ledger.create("weekly", epsilon=4, per_release="1/10")
    release = vs.items(BASKETS, k=2, method="em", public_items=True, account=weekly)
    assert release.epsilon == Fraction(1, 10)
    with pytest.raises(BadCall, match="no allowance"):
        vs.items(BASKETS, k=2, public_items=True, account=ledger.dataset("other", epsilon=1))
    with pytest.raises(BadCall, match="more than 1 for all"):
        ledger.create("wrong", epsilon=1, per_release=2)


def test_a_release_says_where_it_stands_in_the_ledger(ledger_address: str, tmp_path: Path) -> None:
    """And when it was made, and for what; also after it was written and read."""
    ledger = Ledger(ledger_address)
    stores = ledger.dataset("stores", epsilon=4).for_release(partition="north", reference="week 46")
    release = vs.mine(BASKETS, k=2, epsilon=1, public_items=True, account=stores)
    release.save(tmp_path / "r.json")
    loaded = vs.Release.load(tmp_path / "r.json")
    assert loaded.origin == release.origin
    assert loaded.origin is not None
    assert loaded.ledger is not None
    assert loaded.origin.request == {"k": 2, "min_support": None, "max_size": None}
    assert (loaded.ledger.dataset, loaded.ledger.reference) == ("stores", "week 46")
    assert ledger.flaws([loaded.ledger]) == []
    assert "nobody in partition 'north' of 'stores' is in another partition" in str(loaded.promise)
    booked = ledger.balances()["stores"].booked["week 46"]
    assert (booked.state, booked.price) == ("settled", Amount(release.spent))
    assert booked.reservation.told["request"]["k"] == 2


def test_a_call_that_fails_before_any_look_costs_nothing(ledger_address: str) -> None:
    """The refund is an entry of its own."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=4)
    with pytest.raises(BadCall, match="which items"):
        vs.mine(BASKETS, k=2, epsilon=1, account=stores)
    assert stores.left == price(4)
    assert [booked.state for booked in stores.balance.booked.values()] == ["nothing was looked at"]


def test_a_release_that_fails_after_a_look_is_paid_for(
    ledger_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what was charged by then."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=4)

    def fails(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("veilset.methods.truncated_em.Release.of", fails, raising=False)
    monkeypatch.setattr("veilset.results.release.Release.of", fails)
    with pytest.raises(MemoryError):
        vs.mine(BASKETS, k=2, epsilon=1, public_items=True, method="truncated-em", account=stores)
    assert price(0) != stores.spent
    assert stores.spent.is_within(price(1))


def test_nothing_readable_of_the_data_is_stored(ledger_address: str) -> None:
    """Neither an item nor an exact number; and the digest of the same data differs from ledger to ledger."""
    ledger = Ledger(ledger_address)
    stores = ledger.dataset("stores", epsilon=1)
    vs.mine(BASKETS, k=2, epsilon=1, public_items=True, account=stores)
    rows = str([entry.to_row() for entry in ledger.entries()])
    assert not any(item in rows for item in ("bread", "milk", "beer"))


def test_what_a_release_publishes_of_the_ledger_does_not_depend_on_the_data(
    ledger_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same calls on other data, seen before or not: the same entries.

    A digest within the hash would be a number from the data that nobody paid for, in every release.
    """
    identifier = Mock(hex="1")
    monkeypatch.setattr(ledger_account, "uuid4", lambda: identifier)

    def release_twice(address: str, *data: str) -> None:
        ledger = Ledger(address)
        for number, each in enumerate(data):
            account = ledger.dataset(f"set {number}", epsilon=4)
            terms = account.for_release(different_people=True, reference=str(number))
            terms.reserve(price(1), data=each).settle(price(1))
        assert ledger.flaws() == []

    def told(entries: list[Entry]) -> list[dict[str, Any]]:
        return [{**entry.to_public_row(), "at": "", "previous": "", "hash": ""} for entry in entries]

    addresses = [ledger_address, f"sqlite:///{tmp_path / 'other.db'}"]
    release_twice(addresses[0], "abc", "abc")
    release_twice(addresses[1], "abc", "xyz")
    one, other = (Ledger(address).entries() for address in addresses)
    assert told(one) == told(other)
    assert [entry.data for entry in one] != [entry.data for entry in other]
    assert replace(one[-3], data="changed").expected_hash() == one[-3].expected_hash()


def test_a_changed_digest_shows(ledger_address: str) -> None:
    """By its seal, which stays in the ledger."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=4)
    stores.reserve(price(1), data="abc")
    with behind_its_back(ledger_address) as engine:
        flaws = _flaws_after("UPDATE veilset_entries SET data = 'xyz' WHERE number = 2", engine)
    assert flaws == ["entry 2 was changed after it was written"]


def test_a_changed_entry_shows(ledger_address: str) -> None:
    """Edited, removed in the middle, removed at the end, put in twice: by whoever has the database itself."""
    changes = {
        "UPDATE veilset_entries SET epsilon = '1/100' WHERE number = 3": "entry 3 was changed",
        "UPDATE veilset_entries SET who = 'me' WHERE number = 1": "entry 1 was changed",
        "DELETE FROM veilset_entries WHERE number = 2": "entry 2 is missing",
        "DELETE FROM veilset_entries WHERE number = 5": "counts 5 entries, but the last one is entry 4",
        "UPDATE veilset_heads SET entries = 4": "counts 4 entries, but the last one is entry 5",
        "UPDATE veilset_heads SET hash = 'x'": "entry 5, the last one, is not the one",
    }
    ledger = Ledger(ledger_address)
    stores = ledger.dataset("stores", epsilon=4)
    for _ in range(2):
        stores.reserve(price("1/2")).settle(price("1/4"))
    assert ledger.flaws() == []
    with behind_its_back(ledger_address) as engine:
        for change, flaw in changes.items():
            flaws = _flaws_after(change, engine)
            assert any(flaw in each for each in flaws), (change, flaws)
    assert ledger.flaws() == []


def _flaws_after(change: str, engine: Engine) -> list[str]:
    """What shows after a change that is taken back again."""
    names = ["veilset_no_update", "veilset_no_delete"]
    if engine.dialect.name == "postgresql":
        names = ["veilset_no_change ON veilset_entries"]
    with engine.connect() as connection:
        for name in names:
            connection.execute(text(f"DROP TRIGGER {name}"))
        connection.execute(text(change))
        under_way = ledger_database.LedgerTransaction(connection, writes=False)
        flaws = flaws_of_chain(under_way.entries(), number=under_way.number, head=under_way.head)
        connection.rollback()
    return flaws


def test_a_ledger_that_was_made_anew_does_not_have_the_entries_of_releases(
    ledger_address: str, tmp_path: Path
) -> None:
    """Whoever starts the chain from the beginning is found by any release."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=4)
    record = stores.reserve(price(1)).record
    anew = Ledger(f"sqlite:///{tmp_path / 'anew.db'}")
    anew.dataset("stores", epsilon=4).reserve(price(1))
    assert anew.flaws() == []
    assert anew.flaws([record]) == [
        f"entry {record.entry} is not the one that the release {record.reference} was made with"
    ]


@pytest.mark.parametrize(
    "change", ["UPDATE veilset_entries SET epsilon = '0'", "DELETE FROM veilset_entries"]
)
def test_entries_cannot_be_changed_by_accident(ledger_address: str, change: str) -> None:
    """The database itself refuses it."""
    Ledger(ledger_address).dataset("stores", epsilon=4)
    with (
        behind_its_back(ledger_address) as engine,
        pytest.raises(Exception, match="never changed"),
        engine.begin() as connection,
    ):
        connection.execute(text(change))


def test_a_large_denominator_is_rounded_up() -> None:
    """So that sums of thousands of settlements stay short; never below what was spent."""
    spent = Fraction(1, 3 * 10**15 + 1)
    assert storable(spent) >= spent
    assert storable(spent).denominator <= 10**15


PRICES = st.fractions(min_value=0, max_value=1, max_denominator=50)
RELEASES = st.lists(st.tuples(st.sampled_from(["", "a", "b", "c"]), PRICES, st.none() | PRICES), max_size=12)


@given(RELEASES)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_nobody_is_touched_by_more_than_was_spent(
    releases: list[tuple[str, Fraction, Fraction | None]],
) -> None:
    """The slow twin: the dearest person, whatever partition they are in, has paid what the balance says."""
    entries = [Entry(kind="create", dataset="d", epsilon=Fraction(100))]
    people = dict.fromkeys(["a", "b", "c", "no partition"], Fraction(0))
    for number, (partition, reserved, settled) in enumerate(releases):
        entries.append(
            Entry(kind="reserve", dataset="d", partition=partition, reference=str(number), epsilon=reserved)
        )
        charged = reserved
        if settled is not None:
            charged = min(settled, reserved)
            entries.append(
                Entry(kind="settle", dataset="d", partition=partition, reference=str(number), epsilon=charged)
            )
        for person in people:
            if partition in {"", person}:
                people[person] += charged
    balance = balances_of(entries)["d"]
    assert balance.spent.epsilon == max(people.values())
    for person in ("a", "b", "c"):
        assert balance.left_for(person).epsilon == 100 - people[person]
