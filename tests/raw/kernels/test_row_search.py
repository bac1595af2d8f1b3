"""Which of the two searches is used."""

from mining_rows import WIDE, projected
from veilset.raw.kernels.row_search import bitmaps_pay


def test_dense_rows_become_bitmaps_and_sparse_rows_do_not() -> None:
    """Both searches are in use, also in the tests of the miner."""
    assert bitmaps_pay(projected([[0, 1, 2, 3]] * 10, 4), 4)
    assert not bitmaps_pay(projected([[0, 1], [2, 3]] * 10, WIDE), WIDE)
