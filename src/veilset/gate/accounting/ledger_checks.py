"""What a ledger checks before it writes a reservation: pure functions of balances and of what the owner says.

Whose data it is: a name stands for the same people, with the same privacy unit, and data that was read under one name
must not be paid for from a second budget. And whether it can be paid: by the dataset, and by all that it has people of.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from veilset._version import __version__
from veilset.arguments import instance, truth
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate.accounting.budget import Delta, Epsilon, exact_delta, exact_epsilon
from veilset.gate.accounting.ledger_balance import Amount, DatasetBalance, payers_of
from veilset.gate.accounting.ledger_entries import Entry, details_of
from veilset.wording import shown

UNITS = ("transaction", "person")
"""Who can be protected."""

WarningSink = Callable[[str], None]
"""Where warnings for the owner of the data go; they are no part of a release."""


class LedgerRefusal(BudgetExceeded):
    """More was asked for than the ledger has left for a dataset. Nothing was looked at, nothing was reserved.

    Attributes:
        left: what a release can still cost.
        facts: what the last release of the dataset told in public, for a forecast of what that would buy.
    """

    def __init__(self, message: str, *, left: Amount, facts: dict[str, float]) -> None:
        super().__init__(message)
        self.left, self.facts = left, facts


@dataclass(frozen=True, slots=True)
class ReleaseTerms:
    """What the owner says of one release.

    Attributes:
        dataset: what the owner calls the data.
        partition: the part of its people that the data is about, where the owner declares that parts do not overlap.
        same_people_as: another dataset that has people of this one, and pays for it, too.
        different_people: whether the owner declares that data which was read before is about other people here.
        reference: names the release; a second one with the same reference is refused.
    """

    dataset: str
    partition: str = ""
    same_people_as: str | None = None
    different_people: bool = False
    reference: str | None = None

    def __post_init__(self) -> None:
        named(self.dataset)
        instance(self.partition, str, "a partition", give="its name")
        truth(self.different_people, "different_people")
        for name, given in (("same_people_as", self.same_people_as), ("a reference", self.reference)):
            if given is not None:
                instance(given, str, name, give="a name")


def named(name: object) -> str:
    """The name of a dataset; BadCall where it is none."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise BadCall(f"{shown(name)} is no name for a dataset; give one of printable letters")
    return name


def creation(
    name: str, epsilon: Epsilon | None, delta: Delta | None, unit: str | None, per_release: Epsilon | None
) -> Entry:
    """The first entry of a dataset, checked."""
    named(name)
    if epsilon is None:
        raise BadCall(
            f"the ledger has no dataset {name!r}; say what may be spent on it: veilset ledger create {name} --epsilon 4"
        )
    if unit is not None and instance(unit, str, "a privacy unit", give=" or ".join(UNITS)) not in UNITS:
        raise BadCall(f"there is no privacy unit {shown(unit)}; give one of {', '.join(UNITS)}")
    total = Amount(exact_epsilon(epsilon), Fraction(0) if delta is None else exact_delta(delta))
    allowance = None if per_release is None else exact_epsilon(per_release)
    if allowance is not None and allowance > total.epsilon:
        raise BadCall(f"epsilon {allowance} for each release is more than {total.epsilon} for all; give less")
    told = details_of(
        unit=unit, per_release=None if allowance is None else str(allowance), version=__version__
    )
    return Entry(kind="create", dataset=name, epsilon=total.epsilon, delta=total.delta, details=told)


def check_same(
    known: DatasetBalance, *, epsilon: Epsilon | None, delta: Delta | None, unit: str | None
) -> None:
    """Refuse to take a dataset for one with another total or another unit."""
    asked = known.total.with_changes(epsilon, delta)
    if asked != known.total:
        raise BadCall(
            f"dataset {known.name!r} may spend {known.total}, not {asked}; leave it out, or raise the total, with a "
            "reason that stays in the ledger"
        )
    if unit is not None:
        instance(unit, str, "a privacy unit", give=" or ".join(UNITS))
    if unit is not None and known.unit is not None and unit != known.unit:
        raise BadCall(f"dataset {known.name!r} protects one {known.unit}, not one {unit}; leave it out")


def check_open(balance: DatasetBalance, unit: str | None) -> None:
    """Refuse to spend on a closed dataset, or on data with another privacy unit."""
    if balance.is_closed:
        raise LedgerRefusal(
            f"dataset {balance.name!r} is closed: nothing more may be spent on it", left=Amount(), facts={}
        )
    if unit is not None and balance.unit is not None and unit != balance.unit:
        raise BadCall(
            f"dataset {balance.name!r} protects one {balance.unit}, but this data would protect one {unit}; name its "
            "owners as in earlier releases (--owner, --basket), or give it a dataset of its own"
        )


def link_of(terms: ReleaseTerms, balances: dict[str, DatasetBalance]) -> Entry | None:
    """The entry that says whose people a dataset has, where that is new."""
    name, other = terms.dataset, terms.same_people_as
    if other is None or other == name or other in balances[name].people_of:
        return None
    if other not in balances:
        raise BadCall(f"the ledger has no dataset {other!r} whose people these could be")
    if name in {payer.name for payer in payers_of(other, balances)}:
        raise BadCall(f"dataset {other!r} has people of {name!r} already, and is paid for there, too")
    return Entry(kind="link", dataset=name, details=details_of(same_people_as=other))


def declaration_of(
    terms: ReleaseTerms, data: str, readers: Sequence[tuple[str, str]], balances: dict[str, DatasetBalance]
) -> Entry | None:
    """The owner's word that data which was read under another name is about other people; BadCall where it is missing.

    `readers` are the datasets and partitions under which the same data was read before. Where the word is given, it is
    written down whether it was needed or not: entries are counted in public, and must not tell.
    """
    if not data:
        return None
    if terms.different_people:
        return Entry(kind="declare", dataset=terms.dataset, partition=terms.partition, data=data)
    unpaid = [reader for reader in readers if not _is_paid_there(terms, reader, balances)]
    if not unpaid or data in balances[terms.dataset].other_people:
        return None
    dataset, partition = unpaid[0]
    where = repr(dataset) if not partition else f"{dataset!r}, partition {partition!r}"
    raise BadCall(
        f"this data was read before, as dataset {where}: a second budget for the same people would double what "
        f"they risk. Say --same-people-as {dataset} (then its budget pays, too), or --different-people: your "
        "declaration, which stands in the promise"
    )


def _is_paid_there(terms: ReleaseTerms, reader: tuple[str, str], balances: dict[str, DatasetBalance]) -> bool:
    """Whether what is released under the terms adds up with what was released as another dataset or partition."""
    dataset, partition = reader
    if dataset == terms.dataset:
        return "" in {partition, terms.partition} or partition == terms.partition
    if dataset == terms.same_people_as:
        return True
    payers = {payer.name for payer in payers_of(terms.dataset, balances)}
    shared = {payer.name for payer in payers_of(dataset, balances)} if dataset in balances else set()
    return bool(payers & shared)


def other_data_warning(terms: ReleaseTerms, data: str, balance: DatasetBalance) -> str | None:
    """What the owner is told where a name suddenly stands for other data; the same budget pays all the same."""
    earlier = [
        booked.reservation
        for booked in balance.booked.values()
        if booked.reservation.partition == terms.partition and booked.reservation.data
    ]
    is_known = data in {each.data for each in earlier} or terms.same_people_as == terms.dataset
    if not earlier or not data or is_known:
        return None
    return (
        f"dataset {terms.dataset!r} had other data on {earlier[-1].at[:10]}. If some was added, all is well: the same "
        "people, the same budget. If these are other people, give them a dataset of their own. "
        f"--same-people-as {terms.dataset} says that you know"
    )


def check_affordable(terms: ReleaseTerms, price: Amount, balances: dict[str, DatasetBalance]) -> None:
    """Raise LedgerRefusal unless the dataset, and all that it has people of, can pay."""
    for payer in payers_of(terms.dataset, balances):
        left = _left_of(payer, terms)
        if price.is_within(left):
            continue
        of_partition = f" for partition {terms.partition!r}" if terms.partition else ""
        raise LedgerRefusal(
            f"this release asks for {price}, but dataset {payer.name!r} has {left} of {payer.total} left"
            f"{of_partition}; nothing was looked at",
            left=left_for(terms, balances),
            facts=balances[terms.dataset].last_facts,
        )


def left_for(terms: ReleaseTerms, balances: dict[str, DatasetBalance]) -> Amount:
    """What a release can still cost: the least that any payer has left."""
    lefts = [_left_of(payer, terms) for payer in payers_of(terms.dataset, balances)]
    return Amount(min(each.epsilon for each in lefts), min(each.delta for each in lefts))


def _left_of(payer: DatasetBalance, terms: ReleaseTerms) -> Amount:
    left = payer.left_for(terms.partition) if payer.name == terms.dataset else payer.left
    return left.or_more(Amount())


def overspent(balances: dict[str, DatasetBalance]) -> list[str]:
    """Datasets on which more was spent than may be, and releases that cost more than was reserved, in words."""
    flaws = [
        f"dataset {each.name!r} has spent {each.spent} of {each.total}"
        for each in balances.values()
        if not each.spent.is_within(each.total)
    ]
    for each in balances.values():
        flaws.extend(
            f"release {reference} was settled for more than was reserved"
            for reference, booked in each.booked.items()
            if not booked.price.is_within(Amount(booked.reservation.epsilon, booked.reservation.delta))
        )
    return flaws
