"""From data to a Curator: which items may be named, who is protected, how much may be spent.

Nothing is looked at here but what the owner of the data is told anyway (see docs/privacy-promise.md): whatever depends
on the data and reaches a release goes through the Curator.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, cast

from veilset.arguments import either, exact_number, instance, path_or_items, truth
from veilset.errors import BadCall, ChoiceMissing
from veilset.gate import (
    LEAST_EPSILON,
    Amount,
    Budget,
    Curator,
    DatasetAccount,
    Delta,
    Epsilon,
    LedgerRecord,
    Noise,
    PersonCurator,
    PrivacyUnit,
    UnnamedCurator,
    exact_delta,
    exact_epsilon,
    tells_spent,
)
from veilset.integers import whole
from veilset.memory_room import check_room_for_release
from veilset.methods.shared.discovery import find_items
from veilset.methods.shared.persons import choose_per_owner
from veilset.raw.clustered import ClusteredTransactions
from veilset.raw.engines.opened import digest_of_held, engine_over
from veilset.raw.read import check_alphabet, files_of_source, over, read
from veilset.raw.read.databases import SourceDatabase, is_address
from veilset.raw.read.encoded import holds_given_alphabet
from veilset.raw.read.files import STANDARD_INPUT
from veilset.raw.read.vocabulary import AlphabetSource
from veilset.raw.transactions import Transactions
from veilset.request import AUTO, MOST_TRANSACTIONS, PerOwner, PublishRequest, Request, checked_per_owner
from veilset.wording import shown

Opened = TypeVar("Opened", Curator, UnnamedCurator)

WHICH_ITEMS = """which items may be named? Say exactly one of
  --alphabet FILE  (alphabet=)          The items of a public list, one on each line; others are left out.
  --public-items   (public_items=True)  The items of the data, public anyway; if not, whoever alone has one is exposed.
  --delta 1e-9     (delta=)             Items that enough persons hold, found privately; delta is the chance to fail."""


@dataclass(frozen=True, slots=True)
class ItemChoice:
    """Which items may be named: those of a public list, those of the data, or those that are found privately."""

    alphabet: AlphabetSource | None = None
    public_items: bool = False
    delta: Delta | None = None

    def __post_init__(self) -> None:
        truth(self.public_items, "public_items")
        if self.alphabet is not None:
            path_or_items(self.alphabet, "alphabet")
        if self.delta is not None:
            exact_number(self.delta, "delta", such_as="1e-9")

    def check_for(self, source: str) -> None:
        """Raise BadCall unless exactly one choice was made, here or when the data in a file was encoded."""
        self.check(is_read_over_alphabet=holds_given_alphabet(source))

    def check(self, *, is_read_over_alphabet: bool = False) -> None:
        """Raise BadCall unless exactly one choice was made, here or when the data was read."""
        made = [self.alphabet is not None, self.public_items, self.delta is not None, is_read_over_alphabet]
        if sum(made) == 0:
            raise ChoiceMissing(WHICH_ITEMS)
        if sum(made) > 1:
            raise BadCall(
                "the items that may be named were chosen more than once; give one of an alphabet (also when reading), "
                "public items and delta"
            )


@dataclass(frozen=True, slots=True)
class ReleaseBudget:
    """What one release may spend: a budget of its own, and where it stands in a ledger, if it does.

    `facts` take up what the release tells in public of how much data there is, for forecasts of later ones.
    """

    budget: Budget
    record: LedgerRecord | None
    facts: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How data is opened: what may be spent, with what noise, who is protected, what is public, who pays."""

    epsilon: Epsilon | None
    noise: Noise
    items: ItemChoice
    per_owner: PerOwner | None = None
    transactions: int | None = None
    threads: int | None = None
    account: DatasetAccount | None = None

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            exact_number(self.epsilon, "epsilon", such_as="0.5 or 1/3")
        instance(self.noise, Noise, "noise", give="SeededNoise(seed), or leave it out")  # type: ignore[type-abstract]
        if self.account is not None:
            instance(
                self.account, DatasetAccount, "account", give="Ledger(url).dataset(name), or leave it out"
            )
        if self.per_owner is not None:
            object.__setattr__(self, "per_owner", checked_per_owner(self.per_owner))
        if self.threads is not None:
            whole(self.threads, "threads", least=1)
        if self.transactions is not None:
            object.__setattr__(self, "transactions", _possible(self.transactions))

    @contextmanager
    def spending(self, held: Transactions, **about: object) -> Iterator[ReleaseBudget]:
        """What a release may spend; settled in the ledger when the work ends, however it ends.

        Where somebody pays, all of it is reserved in the ledger before anything can be asked. `about` is what the
        ledger shall say of the release.
        """
        budget = self._budget()
        check_room_for_release(_bytes_held(held))
        if self.account is None:
            yield ReleaseBudget(budget, None, {})
            return
        reservation = self.account.reserve(
            Amount(budget.total, budget.delta),
            unit=unit_of(held, self.per_owner).name,
            data=digest_of_held(held, self.account.ledger.digest_key),
            is_private=self.noise.is_private,
            **about,
        )

        def spent() -> Amount:
            return Amount(budget.spent, budget.delta - budget.delta_left)

        with reservation.settling(spent, warn=self.account.warn) as facts:
            yield ReleaseBudget(budget, reservation.record, facts)

    def _budget(self) -> Budget:
        """What may be spent, exactly: what was said, or what the ledger allows for each release."""
        if self.epsilon is None and self.account is None:
            raise BadCall("how much may this release cost? Give epsilon (0.1 is strict, 1 is common)")
        epsilon = (
            self.account.epsilon_for_release() if self.epsilon is None and self.account else self.epsilon
        )
        delta = Fraction(0) if self.items.delta is None else exact_delta(self.items.delta)
        return Budget(exact_epsilon(epsilon), delta=delta)  # type: ignore[arg-type]  # one of both is there

    def curator(
        self,
        data: Transactions | Any,  # noqa: ANN401 - whatever `read` takes
        request: Request | PublishRequest | None = None,
        budget: Budget | None = None,
    ) -> Curator:
        """A Curator over items that are public, by a list or by the owner's word.

        The request is what the number of transactions of one person is chosen for, where it is to be chosen privately.
        """
        held = as_transactions(data)
        self.items.check(is_read_over_alphabet=held.alphabet.is_given)
        if self.items.alphabet is not None:
            held = over(held, self.items.alphabet)
        return self._open(Curator, held, request, budget)

    def unnamed_curator(
        self,
        data: Transactions | Any,  # noqa: ANN401
        request: Request | PublishRequest | None = None,
        budget: Budget | None = None,
    ) -> UnnamedCurator:
        """A curator over items that are not public: they are to be found."""
        held = as_transactions(data)
        self.items.check(is_read_over_alphabet=held.alphabet.is_given)
        return self._open(UnnamedCurator, held, request, budget)

    def curator_for(
        self,
        request: Request | PublishRequest,
        data: Transactions | Any,  # noqa: ANN401
        budget: Budget | None = None,
    ) -> Curator:
        """A Curator over the items that may be named; where they have to be found, that is paid for first."""
        if self.items.delta is None:
            return self.curator(data, request, budget)
        unnamed = self.unnamed_curator(data, request, budget)
        with tells_spent(lambda: unnamed.budget.charges):
            return find_items(unnamed, request, epsilon=unnamed.budget.left, delta=unnamed.budget.delta)

    def _open(
        self,
        kind: type[Opened],
        held: Transactions,
        request: Request | PublishRequest | None,
        budget: Budget | None,
    ) -> Opened:
        budget = budget or self._budget()
        unit = unit_of(held, self.per_owner)
        if budget.total / unit.transactions < LEAST_EPSILON:
            raise BadCall(
                f"epsilon {budget.total} for {unit.transactions} transactions of one person is less than "
                f"{LEAST_EPSILON} for each; give more, or let fewer count"
            )
        with tells_spent(lambda: budget.charges):
            if unit.is_chosen_privately:
                unit = self._chosen_unit(unit, held, budget, request)
            engine = engine_over(held, threads=self.threads)
            if held.has_owners:
                engine = engine.of_each_owner(unit.transactions, self.noise.keys)
        return kind(engine, budget=budget, noise=self.noise, unit=unit, public_number=self.transactions)

    def _chosen_unit(
        self, unit: PrivacyUnit, held: Transactions, budget: Budget, request: Request | PublishRequest | None
    ) -> PrivacyUnit:
        """The unit with as many transactions as are best for what is asked, which is paid for from the budget."""
        if request is None:
            raise BadCall(
                "how many transactions of a person count is chosen for what is asked, and nothing was; "
                "give a number per owner, or ask for something"
            )
        engine = engine_over(held, threads=self.threads)
        persons = PersonCurator(engine, budget=budget, noise=self.noise)
        return replace(unit, transactions=choose_per_owner(persons, request, epsilon=budget.total))


def open_curator(  # noqa: PLR0913 - one argument has two names
    data: Transactions | Any,  # noqa: ANN401 - whatever `read` takes
    *,
    epsilon: Epsilon,
    noise: Noise,
    alphabet: AlphabetSource | None = None,
    public_items: bool = False,
    per_owner: int | None = None,
    public_count: int | None = None,
    transactions: int | None = None,
    threads: int | None = None,
) -> Curator:
    """A Curator over transactions, with a budget of epsilon; counts on all cores, or on `threads` of them.

    `alphabet` or `public_items` tells which items may be named, unless the data was read with an alphabet.
    """
    access = Access(
        epsilon=epsilon,
        noise=noise,
        items=ItemChoice(alphabet, public_items=public_items),
        per_owner=per_owner,
        transactions=either(public_count=public_count, transactions=transactions),
        threads=threads,
    )
    return access.curator(data)


def _bytes_held(held: Transactions | ClusteredTransactions) -> int:
    """The memory that data takes on this machine."""
    return 0 if isinstance(held, ClusteredTransactions) else held.nbytes


def _possible(transactions: object) -> int:
    """A number of transactions that there can be."""
    number = whole(transactions, "public_count, the number of transactions,")
    if not 0 <= number <= MOST_TRANSACTIONS:
        raise BadCall(
            f"{shown(number)} transactions are not possible; give the public number, or leave it out"
        )
    return number


def as_transactions(data: Transactions | Any, alphabet: AlphabetSource | None = None) -> Transactions:  # noqa: ANN401
    """Data as it was read, or to be read; refused if it is a matrix and the alphabet names none of its columns."""
    if isinstance(data, Transactions | ClusteredTransactions):
        return cast("Transactions", data)
    if alphabet is not None:
        check_alphabet(data, alphabet)
    return read(data)


def files_read(source: str) -> list[Path]:
    """The files that a command reads: none of them may be written to."""
    return [] if source == STANDARD_INPUT else files_of_source(source)


def shown_source(source: str) -> str:
    """What a source is called where it is shown or stored: of the address of a database, nothing but its name."""
    if not is_address(source):
        return source
    return Path(SourceDatabase.of_address(source).name.partition("://")[2] or files_of_source(source)[0]).name


def unit_of(held: Transactions, per_owner: PerOwner | None) -> PrivacyUnit:
    """Who is protected, and with how many transactions each; with one, as long as that is to be chosen privately."""
    if not held.has_owners:
        if per_owner is not None:
            why = "every person has one here" if held.is_by_person else "the data names no owner of several"
            raise BadCall(
                f"--per-owner {per_owner} (per_owner) limits the transactions of one person, but {why}; leave it out, "
                "or name the columns of owners and of their baskets (--owner, --basket)"
            )
        unit = PrivacyUnit("person" if held.is_by_person else "transaction", 1)
        return replace(unit, is_basket=held.is_by_basket)
    if per_owner == AUTO:
        return PrivacyUnit("person", 1, is_cut=True, is_chosen_privately=True)
    if type(per_owner) is not int or per_owner < 1:
        given = "" if per_owner is None else f"; {per_owner!r} is neither"
        raise BadCall(
            "one person may own several transactions here: say how many of each may count with --per-owner "
            "(per_owner): a number, at least 1, with which noise grows, or auto, which chooses it privately for up to "
            f"5 % of epsilon{given}"
        )
    return PrivacyUnit("person", per_owner, is_cut=True)
