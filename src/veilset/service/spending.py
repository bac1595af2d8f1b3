"""What was spent, as far as it may be told: what the ledger has, and what waits and has not reserved yet.

Datasets that have people of others spend from several budgets at once; what waits does, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from veilset.gate import Amount, Booked, DatasetBalance, payers_of
from veilset.service.release_job import ENDED, ReleaseJob


@dataclass(frozen=True, slots=True)
class BudgetView:
    """What may be spent on a dataset, what was, and what is left, as far as it may be told now."""

    total: Amount
    spent: Amount
    left: Amount
    is_closed: bool

    def to_dict(self) -> dict[str, Any]:
        """The budget as JSON values."""
        amounts = {"total": self.total, "spent": self.spent, "left": self.left}
        return {**{name: each.to_dict() for name, each in amounts.items()}, "is_closed": self.is_closed}


@dataclass(frozen=True, slots=True)
class SpendingView:
    """All balances of the ledger, and all requests that may not be in them yet, or not be told yet.

    Whoever makes one reads the requests first: what reserves in between is then counted once, by the ledger.
    """

    balances: dict[str, DatasetBalance]
    jobs: Sequence[ReleaseJob]
    every: float

    def balance(self, name: str) -> DatasetBalance:
        """What the ledger says of a dataset; LookupError where it knows none of that name."""
        if name not in self.balances:
            raise LookupError(f"there is no dataset {name!r}")
        return self.balances[name]

    def budget(self, name: str) -> BudgetView:
        """What is left of a dataset: no more than what any other has left that pays for it, too."""
        balance = self.balance(name)
        lefts = [payer.total - self._spent(payer) for payer in payers_of(name, self.balances)]
        left = Amount(min(each.epsilon for each in lefts), min(each.delta for each in lefts))
        return BudgetView(balance.total, self._spent(balance), left.or_more(Amount()), balance.is_closed)

    def _spent(self, payer: DatasetBalance) -> Amount:
        """What the ledger has, and what waits, of all datasets that this one pays for."""
        paid = [
            each
            for name, each in self.balances.items()
            if payer.name in {other.name for other in payers_of(name, self.balances)}
        ]
        booked = {reference: entry for each in paid for reference, entry in each.booked.items()}
        names = {each.name for each in paid}
        jobs = [job for job in self.jobs if job.dataset in names]
        return payer.spent + unreserved(jobs, booked) + untold(jobs, booked, self.every)

    def left_of_allowance(self, allowance: Amount, name: str, mine: Sequence[ReleaseJob]) -> Amount:
        """What is left to somebody of an allowance on a dataset, after all requests of theirs for it."""
        booked = self.balance(name).booked
        return (allowance - spent_by(mine, booked) - untold(mine, booked, self.every)).or_more(Amount())


def unreserved(jobs: Sequence[ReleaseJob], booked: dict[str, Booked]) -> Amount:
    """What requests may cost that wait and have reserved nothing yet."""
    waiting = [job.price for job in jobs if job.state not in ENDED and job.id not in booked]
    return sum(waiting, Amount())


def untold(jobs: Sequence[ReleaseJob], booked: dict[str, Booked], every: float) -> Amount:
    """What reservations exceed prices by, of requests whose end is not told yet: their price is not told either."""
    hidden = [booked[job.id] for job in jobs if job.id in booked and job.told_state(every) == "waiting"]
    excess = [Amount(each.reservation.epsilon, each.reservation.delta) - each.price for each in hidden]
    return sum(excess, Amount())


def spent_by(mine: Sequence[ReleaseJob], booked: dict[str, Booked]) -> Amount:
    """What the requests of a user cost so far; those that wait count in full."""
    paid = [booked[job.id].price for job in mine if job.id in booked]
    return sum(paid, unreserved(mine, booked))
