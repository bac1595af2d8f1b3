"""How long transactions are: by classes; and where nearly all are of one class, which of its lengths they have.

Privacy argument. One containment histogram of lengths, or two, of sensitivity c each, the transactions of one privacy
unit. Whether the second is asked for, and for which lengths, follows from the answer to the first.

Rows of a table have as many items as columns, some less where a value is missing. All of them are in one class then,
and where in it is not told: a cap of 12 takes nothing from rows of 10 items and a fifth from rows of 15. One count for
each length of that class tells.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import Curator, NoisyHistogram
from veilset.methods.planned.histogram_laws import CLASSES
from veilset.methods.planned.overlap import Overlap, ask_overlap
from veilset.methods.planned.settings import Settings

OF_ONE_CLASS = 0.9
"""0.9 of the transactions that hold any item in one class are nearly all."""
STANDING_OUT = 3.0
"""3 scales of noise or more, a number of transactions of one length stands out."""


def ask_item_overlap(
    curator: Curator, *, number: int, epsilon: Fraction, settings: Settings
) -> tuple[Overlap, Fraction]:
    """About how many transactions have each length, and what that cost: small shares of all of epsilon."""
    for_classes = epsilon * settings.share_for_lengths
    lengths = ask_overlap(curator, None, number=number, epsilon=for_classes, settings=settings)
    of_most = class_of_most(lengths)
    if of_most is None:
        return lengths, for_classes
    for_each = epsilon * settings.share_for_each_length
    found = curator.ask_containment(None, classes=(0, *of_most, of_most.stop), epsilon=for_each)
    return placed_within(lengths, of_most, found), for_classes + for_each


def class_of_most(lengths: Overlap) -> range | None:
    """The lengths of the class that nearly all transactions are in; None where there is no such class of several."""
    for start, end in pairwise(CLASSES[1:]):
        share = lengths.transactions[start - 1 : end - 1].sum() / max(float(lengths.transactions.sum()), 1e-9)
        if share >= OF_ONE_CLASS and end - start > 1:
            return range(start, end)
    return None


def placed_within(lengths: Overlap, of_most: range, found: NoisyHistogram) -> Overlap:
    """The same with the transactions of a class at the lengths that stand out, if any does."""
    counts = found.values[1:-1].astype(np.float64)
    counts[counts < STANDING_OUT * float(found.mechanism.scale)] = 0.0
    if counts.sum() == 0:
        return lengths
    shares, some = counts / counts.sum(), slice(of_most.start - 1, of_most.stop - 1)

    def placed(transactions: FloatArray) -> FloatArray:
        moved = transactions.copy()
        moved[..., some] = transactions[..., some].sum(axis=-1, keepdims=True) * shares
        return moved

    return replace(lengths, transactions=placed(lengths.transactions), plausible=placed(lengths.plausible))
