"""How far itemsets differ in who holds them: one number, asked for, tells how well a cap is known.

Privacy argument. One question, `ask_unlikeness`, of the sensitivity that `methods.shared.length_contrast` tells: items,
limit and average follow from earlier answers. All else is post-processing.

What a cap takes from an itemset depends on whether long transactions hold it or short ones, its tilt
(`planned.measurements`). Datasets differ by a factor of ten in how far tilts are apart: baskets of a supermarket are
long or short and much alike, while packages of libraries and of programs are short and long and share no tag. No
constant fits both. But transactions that hold the same things whatever their length make the number small, and the
further tilts are apart, the larger it is: so it tells their spread.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator
from veilset.methods.planned.histogram_laws import NUMBERS
from veilset.methods.planned.measurements import LOG_TILTS, USUAL_SPREAD, log_tilt_law, log_tilts
from veilset.methods.planned.overlap import Overlap
from veilset.methods.planned.settings import Settings
from veilset.methods.shared.length_contrast import (
    COMPARED_LENGTHS,
    FEWEST_COMPARED,
    MOST_COMPARED,
    LengthContrast,
    best_contrast,
)

TILT_SPREADS = np.geomspace(0.08, 1.6, 14)
"""How far tilts may be apart."""
SPREADS_WITHIN = 0.4
"""0.4 is how far the logarithm of the spread of a dataset is from the usual one before it is asked for, with the tails
of Student's t with 3 degrees of freedom."""
MODEL_WITHIN = 0.15
"""0.15 of the expected number is how far it is off because tilts are a model."""
ALSO_APART = 0.12
"""0.12 is how far tilts of what is counted are apart beside that: candidates, and itemsets, are no items."""
FINE_TILTS = np.arange(-2.05, 5.0, 0.1)
UNEVENNESS_OF_SPREAD, LEAST_UNEVENNESS, MOST_UNEVENNESS = 1.1, 0.4, 0.6
"""1.1 times the spread of tilts is how far the loss of an itemset departs from the average one, 0.4 to 0.6."""
FAR_APART, LEAST_UNTOLD = 0.4, 0.3
"""Where tilts are less than 0.4 apart, items are alike in all that a cap takes from them: what tilts do not tell of it
is less in proportion, down to 0.3 times as much."""


@dataclass(frozen=True, slots=True, eq=False)
class Tilts:
    """About how far tilts are apart, and ln of the probability of each of TILTS."""

    spread: float = USUAL_SPREAD
    log_chances: FloatArray | None = None

    @property
    def law(self) -> FloatArray:
        """ln of the probability of each of TILTS; the usual one where nothing was asked."""
        return LOG_TILTS if self.log_chances is None else self.log_chances

    def tuned(self, settings: Settings) -> Settings:
        """Settings with which caps are chosen and counts are read, where it was asked how far tilts are apart."""
        if self.log_chances is None:
            return settings
        uneven = min(max(UNEVENNESS_OF_SPREAD * self.spread, LEAST_UNEVENNESS), MOST_UNEVENNESS)
        untold = settings.unevenness_of_a_tilt * min(max(self.spread / FAR_APART, LEAST_UNTOLD), 1.0)
        return replace(settings, unevenness=uneven, unevenness_of_a_tilt=untold)


def ask_tilts(
    curator: Curator, lengths: Overlap, supports: FloatArray, *, epsilon: Fraction
) -> tuple[Tilts, Fraction]:
    """How far tilts of the most frequent items are apart, and what that cost: nothing where few items stand out."""
    contrast = choose_contrast(lengths, supports)
    if contrast is None:
        return Tilts(), Fraction(0)
    items = compared_items(supports)
    found = contrast.ask(curator, items, epsilon=epsilon)
    expected = expected_unlikeness(contrast, TILT_SPREADS, lengths, supports[items])
    return tilts_of(found.value, expected, noise=found.noise), epsilon


def compared_items(supports: FloatArray) -> Int64Array:
    """The most frequent of the items that stand out from noise; the support of the others is 0."""
    order = np.argsort(-supports, kind="stable")[:MOST_COMPARED]
    return np.sort(order[supports[order] > 0])


def choose_contrast(lengths: Overlap, supports: FloatArray) -> LengthContrast | None:
    """The one that tells spreads apart best, for its sensitivity; None where few items stand out from noise."""
    compared = supports[compared_items(supports)]
    if compared.size < FEWEST_COMPARED:
        return None
    return best_contrast(
        (LengthContrast.up_to(limit, NUMBERS, lengths.transactions) for limit in COMPARED_LENGTHS),
        partial(expected_unlikeness, lengths=lengths, supports=compared),
    )


def expected_unlikeness(
    contrast: LengthContrast, spreads: FloatArray, lengths: Overlap, supports: FloatArray
) -> FloatArray:
    """The answer to expect for items of these supports, for each of some spreads of their tilts.

    An item of a tilt adds its support times the average weight where it is held; and as it is held by some transactions
    and not by others, as much as a sum of that many draws is off.
    """
    logs, weights = np.log(NUMBERS if lengths.few is None else lengths.few.as_many), contrast.weights(NUMBERS)
    held = lengths.transactions * np.exp(FINE_TILTS[:, None] * (logs - logs.max()))
    held /= held.sum(axis=1, keepdims=True)
    means, squares = held @ weights, held @ weights**2
    chance = (supports[:, None] ** 2) * means**2 + 2 / math.pi * supports[:, None] * (squares - means**2)
    added = np.sqrt(chance).sum(axis=0)
    laws = np.exp([log_tilt_law(FINE_TILTS, spread) for spread in spreads.tolist()])
    expected: FloatArray = laws @ added / laws.sum(axis=1)
    return expected


def tilts_of(answer: float, expected: FloatArray, *, noise: float) -> Tilts:
    """What an answer says, where it is expected to be `expected` for each of TILT_SPREADS, with noise of a scale.

    >>> expected = 1000 * TILT_SPREADS
    >>> [round(tilts_of(answer, expected, noise=50.0).spread, 2) for answer in (100.0, 400.0, 1200.0)]
    [0.16, 0.37, 1.08]
    """
    widths = np.hypot(noise, MODEL_WITHIN * expected)
    off = np.log(TILT_SPREADS / USUAL_SPREAD) / SPREADS_WITHIN
    log_weights = -np.abs(answer - expected) / widths - np.log(widths) - 2 * np.log1p(off * off / 3)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    laws = np.exp([log_tilts(math.hypot(spread, ALSO_APART)) for spread in TILT_SPREADS.tolist()])
    return Tilts(float(np.exp(weights @ np.log(TILT_SPREADS))), np.log(weights @ laws))
