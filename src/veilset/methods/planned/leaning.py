"""What is counted under a cap of itemsets that do not lose alike.

Post-processing: everything here follows from noisy answers.

How many of the counted itemsets transactions contain is known from a histogram; what a cap takes from one itemset
depends on how many there are where it is. That is at least the number of its parts among the counted, and about as many
as the supports known so far let expect (`planned.companions`): both bend the law that holds for an average itemset.
"""

from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray
from veilset.methods.planned.companions import Companions
from veilset.methods.planned.histogram_laws import HARDLY_ANY, NUMBERS
from veilset.methods.planned.measurements import TILTS, USUAL_TILT
from veilset.methods.planned.overlap import Overlap, containing

TRUST = 0.5
"""Half of what tells an itemset from the others by its expected companions, on a logarithmic scale, is taken as true:
items are not independent beside an itemset, and what is known of supports is noisy."""
TABLE_TILTS = np.arange(-1.0, 4.01, 0.5)
"""Tilts that are computed; between two of them lies what is between."""


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """For each of TABLE_TILTS and each support: the share that is counted, and the number contained, as logarithms."""

    log_kept: FloatArray
    log_contained: FloatArray

    @classmethod
    def of(cls, overlap: Overlap, grid: FloatArray, weights: FloatArray, least: int) -> "_Table":
        """Where transactions that contain fewer than `least` of the itemsets do not contain the one in question."""
        transactions = np.where(least <= NUMBERS, overlap.transactions, 0.0)
        transactions[min(least, NUMBERS.size) - 1] += HARDLY_ANY
        kept, contained = [], []
        for tilt in TABLE_TILTS.tolist():
            chances = containing(tilt, overlap.few)
            whole = chances @ transactions
            kept.append(_share_at(grid, whole, chances @ (transactions * weights)))
            contained.append(_share_at(grid, whole, chances @ (transactions * NUMBERS)))
        return cls(np.log(kept), np.log(contained))


def _share_at(supports: FloatArray, whole: FloatArray, part: FloatArray) -> FloatArray:
    """What a part is of supports that are the whole; beyond the known ones the share is that of the last."""
    shares: FloatArray = np.interp(supports, whole, part / whole)
    return shares


def counted_by_itemset(
    overlap: Overlap, grid: FloatArray, weights: FloatArray, companions: Companions
) -> FloatArray:
    """What is counted of each itemset, for each of TILTS and each support of a grid."""
    tables = {
        least: _Table.of(overlap, grid, weights, least) for least in np.unique(companions.least).tolist()
    }
    tilts = _tilts(grid, companions, tables)
    counted = np.empty((len(tilts), len(TILTS), grid.size))
    for least, table in tables.items():
        rows = np.flatnonzero(companions.least == least)
        counted[rows] = grid * np.exp(_between(tilts[rows], table.log_kept))
    return counted


def _tilts(grid: FloatArray, companions: Companions, tables: dict[int, _Table]) -> FloatArray:
    """TILTS of each itemset: around the one with which transactions contain as many as are expected beside it."""
    places = np.minimum(np.searchsorted(grid, companions.supports), grid.size - 1).tolist()
    contained = np.array(
        [
            tables[least].log_contained[:, place]
            for least, place in zip(companions.least.tolist(), places, strict=True)
        ]
    )
    as_usual = np.array([np.interp(USUAL_TILT, TABLE_TILTS, row) for row in contained])
    more = np.log(np.maximum(companions.expected, 1e-9)) - as_usual
    more -= np.average(more, weights=np.maximum(companions.supports, 1.0))
    middles = np.array(
        [
            np.interp(wanted, np.maximum.accumulate(row), TABLE_TILTS)
            for wanted, row in zip(as_usual + TRUST * more, contained, strict=True)
        ]
    )
    around = np.array(TILTS) - USUAL_TILT
    return np.clip(middles[:, None] + around, TABLE_TILTS[0], TABLE_TILTS[-1])


def _between(tilts: FloatArray, table: FloatArray) -> FloatArray:
    """Rows of a table for TABLE_TILTS, at tilts between them."""
    place = (tilts - TABLE_TILTS[0]) / (TABLE_TILTS[1] - TABLE_TILTS[0])
    before = np.minimum(place.astype(np.int64), TABLE_TILTS.size - 2)
    part = (place - before)[:, :, None]
    rows: FloatArray = table[before] * (1 - part) + table[before + 1] * part
    return rows
