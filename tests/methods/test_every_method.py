"""What holds for every method that releases itemsets: it stays within epsilon, and nothing exact gets out."""

import logging
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import Baskets
from strategies import baskets, transactions_of
from veilset.arrays import Int64Array
from veilset.gate import Noise, SeededNoise
from veilset.methods import METHODS
from veilset.opening import open_curator
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.row_keys import RowKeys
from veilset.render import terminal
from veilset.render.report import report_html
from veilset.request import Request

ITEMSET_METHODS = [name for name, method in METHODS.items() if method.task != "publish"]
"""Methods whose release is a list of itemsets; those that publish a dataset are tested with it."""


@pytest.mark.parametrize("name", ITEMSET_METHODS)
@given(
    rows=baskets(),
    epsilon=st.fractions(min_value=Fraction(1, 100), max_value=8),
    wanted=st.sampled_from([Request.of(k=2), Request.of(k=6, max_size=1), Request.of(min_support="0.2")]),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=40)
def test_the_trace_of_any_run_sums_to_at_most_epsilon(
    name: str, rows: Baskets, epsilon: Fraction, wanted: Request, seed: int
) -> None:
    """For every method that releases itemsets."""
    curator = open_curator(transactions_of(rows), epsilon=epsilon, noise=SeededNoise(seed))
    release = METHODS[name].run(curator, wanted, epsilon=epsilon)
    assert (
        sum((charge.mechanism.epsilon for charge in release.trace), Fraction(0)) == release.spent <= epsilon
    )


class Offset(Noise):
    """Noise that moves every count far away, so that an exact one that gets past it is found."""

    is_private = True

    def __init__(self) -> None:
        self._seeded = SeededNoise(3)

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """Add a constant."""
        assert scale > 0
        return counts.values + 1_000_003

    def discrete_gaussian(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """The same."""
        return self.discrete_laplace(counts, scale=scale)

    def below(self, bound: int) -> int:
        """As usual."""
        return self._seeded.below(bound)

    def keys(self) -> RowKeys:
        """As usual."""
        return self._seeded.keys()


@pytest.mark.parametrize("wanted", [Request.of(k=3), Request.of(min_support="0.1")], ids=["k", "threshold"])
@pytest.mark.parametrize("name", ITEMSET_METHODS)
def test_no_exact_count_gets_out(
    name: str, wanted: Request, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """Planted supports are in nothing that a run returns, prints or logs."""
    caplog.set_level(logging.DEBUG)
    rows = [frozenset({0, 1})] * 7919 + [frozenset({0})] * 5003 + [frozenset({2})] * 3001
    planted = {7919, 7919 + 5003, 3001, len(rows)}
    curator = open_curator(transactions_of(rows), epsilon=1, noise=Offset())
    release = METHODS[name].run(curator, wanted, epsilon=Fraction(1))
    terminal.print_release(release)
    printed = capsys.readouterr()
    texts = [
        release.to_json(),
        repr(release),
        release._repr_html_().split("</style>")[-1],
        str(release.promise),
        report_html(release).split("</script>")[-2],
        repr(curator),
        str(vars(curator)),
        printed.out,
        printed.err,
        caplog.text,
    ]
    numbers = {int(digits.replace(",", "")) for text in texts for digits in re.findall(r"\d[\d,]*\d", text)}
    assert not planted & numbers
