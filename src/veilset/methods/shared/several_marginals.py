"""What several noisy marginals together say of the supports of all itemsets within one of them.

Post-processing: everything here follows from noisy answers and the (noisy) number of transactions.

Each marginal tells a support twice (`shared.marginals`): as its cells add up to, which errs by noise, and as is
expected where little is seen, which errs by a model. Marginals have noise of their own, but they share the model: an
itemset of which it expects too little is expected too rarely by each of them. So their sums are averaged, and what they
expect is, and only then are both mixed. Whoever averages mixes is as sure as if many had looked, though all guessed
alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import NoisyCount, NoisyHistogram
from veilset.itemsets import Itemset
from veilset.methods.shared.bases import Basis
from veilset.methods.shared.cells import FLIPPED
from veilset.methods.shared.marginals import MarginalSupports, supports_in_marginal

LEAST_VARIANCE = 1e-9
"""No answer is surer than that: what is next to no noise is divided by."""

LEAST_WEIGHT = 1e-100
"""Where nothing is expected, this weight is divided by: the square of it is still a number."""


class Measured(NamedTuple):
    """What marginals say of a support: its mean and standard deviation."""

    mean: float
    deviation: float


def averaged(
    bases: Sequence[Basis],
    marginals: Sequence[NoisyHistogram],
    *,
    number: NoisyCount,
    max_size: int,
    flip: float = FLIPPED,
) -> dict[Itemset, Measured]:
    """What the marginals of all bases say: `over_bases` of `supports_in_marginal`."""
    told = [
        supports_in_marginal(answer.values, number=number, scale=float(answer.mechanism.scale), flip=flip)
        for answer in marginals
    ]
    return over_bases(bases, told, max_size=max_size)


def over_bases(
    bases: Sequence[Basis], told: Sequence[MarginalSupports], *, max_size: int
) -> dict[Itemset, Measured]:
    """Every itemset within a basis, its support and the standard deviation of that."""
    row_of: dict[Itemset, int] = {}
    rows, cells = [], []
    for basis in bases:
        within = list(_within(basis, max_size))
        rows.append(np.array([row_of.setdefault(itemset, len(row_of)) for itemset, _ in within]))
        cells.append(np.array([cell for _, cell in within]))
    together = _Sums.zeros(len(row_of))
    for some, chosen, supports in zip(rows, cells, told, strict=True):
        together.add(some, chosen, supports)
    means, deviations = together.mixed()
    return dict(zip(row_of, map(Measured, means.tolist(), deviations.tolist()), strict=True))


def _within(basis: Basis, max_size: int) -> list[tuple[Itemset, int]]:
    """The itemsets within a basis, and the number of the cell of each."""
    places = range(len(basis))
    return [
        (tuple(basis[place] for place in some), sum(1 << place for place in some))
        for size in range(1, min(len(basis), max_size) + 1)
        for some in combinations(places, size)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """For each itemset, over the marginals that tell of it, weighted: by noise alone, and by what errs as expected.

    Weights are inverse variances, where noise of cells that stand out is in both.
    """

    weight_of_sums: FloatArray
    sums: FloatArray
    weight_of_expected: FloatArray
    expected: FloatArray
    squares_of_seen: FloatArray
    model: FloatArray
    remaining: FloatArray
    least: FloatArray

    @classmethod
    def zeros(cls, size: int) -> "_Sums":
        """Before any marginal."""
        sums = cls(*(np.zeros(size) for _ in range(8)))
        sums.least.fill(np.inf)
        return sums

    def add(self, rows: Int64Array, cells: Int64Array, told: MarginalSupports) -> None:
        """What some cells of a marginal tell of the itemsets in some rows, each of which is there once."""
        seen, of_seen, precision = told.seen[cells], told.of_seen[cells], told.precision[cells]
        by_noise = 1 / np.maximum(of_seen + told.of_sum[cells], LEAST_VARIANCE)
        as_expected = precision / (1 + of_seen * precision)
        self.weight_of_sums[rows] += by_noise
        self.sums[rows] += by_noise * (seen + told.by_sum[cells])
        self.weight_of_expected[rows] += as_expected
        self.expected[rows] += as_expected * (seen + told.expected[cells])
        self.squares_of_seen[rows] += as_expected**2 * of_seen
        self.model[rows] += as_expected / np.sqrt(np.maximum(precision, LEAST_WEIGHT))
        self.remaining[rows] += as_expected * np.sqrt(told.of_remaining[cells])
        self.least[rows] = np.minimum(self.least[rows], seen)

    def mixed(self) -> tuple[FloatArray, FloatArray]:
        """Means and standard deviations; of one marginal alone, as it tells them.

        No mean is below what each of the marginals has seen.
        """
        weight = np.maximum(self.weight_of_expected, LEAST_WEIGHT)
        of_sums, of_model = 1 / self.weight_of_sums, (self.model / weight) ** 2
        in_both = np.minimum(self.squares_of_seen / weight**2, of_sums)
        of_rest = of_sums - in_both
        is_expected = self.weight_of_expected > 0
        say_of_sums = np.where(is_expected, of_model / np.maximum(of_rest + of_model, LEAST_VARIANCE), 1.0)
        means = say_of_sums * self.sums * of_sums + (1 - say_of_sums) * self.expected / weight
        means = np.where(is_expected, np.maximum(means, self.least), means)
        variances = in_both + say_of_sums * of_rest + ((1 - say_of_sums) * self.remaining / weight) ** 2
        return means, np.sqrt(np.maximum(variances, LEAST_VARIANCE))
