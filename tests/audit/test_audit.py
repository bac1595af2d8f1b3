"""The audit: the tester is right about mechanisms that are known, ours hold, and nothing exact gets out."""

import json
import logging
import math
import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from reference import Baskets
from strategies import baskets, transactions_of
from veilset.api import open_curator
from veilset.arrays import Int64Array
from veilset.audit.exact_laws import EXACT_LAWS, law_of_best
from veilset.audit.intervals import at_least, at_most
from veilset.audit.lower_bound import Outcome, lower_bound
from veilset.audit.neighbours import PAIRS, Pair
from veilset.audit.runner import cases, printed_cases
from veilset.audit.self_test import check_noise
from veilset.audit.subjects import TARGETS, of_method
from veilset.audit.verdicts import BROKEN, HOLDS, Verdict
from veilset.errors import BadCall
from veilset.gate import SecureNoise, SeededNoise
from veilset.itemsets import Domain
from veilset.methods import METHODS
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.truncation import Keys
from veilset.render import terminal
from veilset.render.report import report_html
from veilset.request import Request

Generator = np.random.Generator

ITEMSET_METHODS = [name for name, method in METHODS.items() if method.task != "publish"]
"""Methods whose release is a list of itemsets; those that publish a dataset are tested with it."""


def laplace(rng: Generator, true: int, *, scale: float) -> Outcome:
    """A count with discrete Laplace noise: epsilon is 1 / scale."""
    up, down = rng.geometric(-math.expm1(-1 / scale), size=2)
    return {"count": true + int(up) - int(down)}


def randomised_response(rng: Generator, true: int, *, epsilon: float) -> Outcome:
    """The truth with probability e^epsilon / (1 + e^epsilon)."""
    return {"answer": true if rng.random() < 1 / (1 + math.exp(-epsilon)) else 1 - true}


def choice(rng: Generator, true: int, *, epsilon: float) -> Outcome:
    """One of four, by the exponential mechanism; the unit moves one score by 1."""
    weights = np.exp(epsilon * np.array([true, 0, 0, 0]))
    return {"chosen": int(rng.choice(4, p=weights / weights.sum()))}


def two_counts(rng: Generator, true: int, *, scale: float) -> Outcome:
    """Something that does not depend on the data beside something that does."""
    return {"idle": int(rng.integers(5)), **laplace(rng, true, scale=scale)}


KNOWN: dict[str, tuple[Callable[[Generator, int], Outcome], float]] = {
    "Laplace, epsilon 1": (lambda rng, true: laplace(rng, true, scale=1), 1.0),
    "Laplace, epsilon 1/4": (lambda rng, true: laplace(rng, true, scale=4), 0.25),
    "randomised response, epsilon 1": (lambda rng, true: randomised_response(rng, true, epsilon=1), 1.0),
    "choice, epsilon 2": (lambda rng, true: choice(rng, true, epsilon=2), 2 - math.log((3 + math.e**2) / 4)),
    "two statistics, epsilon 1": (lambda rng, true: two_counts(rng, true, scale=1), 1.0),
}
"""Mechanisms, and the largest ln of a ratio of probabilities that they have."""


def sampled(draw: Callable[[Generator, int], Outcome], seed: int, samples: int) -> float:
    """The bound on a mechanism between the true values 1 and 0."""
    rng = np.random.default_rng(seed)
    return lower_bound([draw(rng, 1) for _ in range(samples)], [draw(rng, 0) for _ in range(samples)]).epsilon


@pytest.mark.parametrize("name", KNOWN)
def test_the_bound_comes_close_to_a_known_epsilon_and_not_above(name: str) -> None:
    """At least 0.8 of the truth where samples allow it."""
    draw, epsilon = KNOWN[name]
    samples = 60_000 if epsilon < 0.5 else 10_000
    assert 0.8 * epsilon <= sampled(draw, 3, samples) <= epsilon


def test_half_the_noise_is_noticed() -> None:
    """A mechanism that claims epsilon 1 and spends 2 is refuted with a thousand samples."""
    assert sampled(lambda rng, true: laplace(rng, true, scale=0.5), 4, 1000) > 1


def test_false_alarms_are_as_rare_as_claimed() -> None:
    """The bound exceeds the truth in at most 5 % of audits; 300 audits of a tight mechanism."""
    alarms = sum(sampled(lambda rng, true: laplace(rng, true, scale=1), seed, 200) > 1 for seed in range(300))
    assert stats.binom.sf(alarms - 1, 300, 0.05) > 1e-6


def test_outcomes_that_are_possible_on_one_side_only_give_a_bound_that_grows() -> None:
    """With the logarithm of the number of samples."""
    with_unit: list[Outcome] = [{"seen": 1}] * 4000
    without_unit: list[Outcome] = [{}] * 4000
    assert lower_bound(with_unit[:400], without_unit[:400]).epsilon > 3.5
    found = lower_bound(with_unit, without_unit)
    assert found.epsilon > 6
    assert "seen" in found.event


@given(trials=st.integers(1, 500), share=st.floats(0, 1), error=st.sampled_from([0.025, 1e-4]))
def test_intervals_are_those_of_clopper_and_pearson(trials: int, share: float, error: float) -> None:
    """Against quantiles of the beta distribution."""
    successes = round(share * trials)
    low = stats.beta.ppf(error, successes, trials - successes + 1) if successes else 0.0
    high = stats.beta.ppf(1 - error, successes + 1, trials - successes) if successes < trials else 1.0
    assert at_least(successes, trials, error=error) == pytest.approx(low, abs=1e-9)
    assert at_most(successes, trials, error=error) == pytest.approx(high, abs=1e-9)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)], ids=str)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_choices_cost_what_they_claim_exactly(pair: Pair, epsilon: Fraction) -> None:
    """The law of every choice, computed on both databases."""
    for law in EXACT_LAWS:
        found = law(pair, epsilon=epsilon)
        assert found.verdict == HOLDS, found


def test_a_choice_at_twice_its_rate_is_caught_exactly() -> None:
    """The exact comparison has a control: twice the epsilon is more than the claim on some pair."""
    losses = []
    for pair in PAIRS:
        domain = Domain(items=range(pair.items), max_size=1)
        one, other = (
            law_of_best(data, domain, 1, epsilon=Fraction(2))
            for data in (pair.with_unit(), pair.without_unit())
        )
        losses.append(max(abs(one[output] - other[output]) for output in one))
    assert max(losses) > 1


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_audit_cases(name: str) -> None:
    """A method is audited because it is registered: a new task needs targets before it can be merged."""
    assert METHODS[name].task in TARGETS
    assert of_method(name)


@pytest.mark.parametrize("name", METHODS)
def test_methods_stay_within_their_claim(name: str) -> None:
    """The short audit, on every pair, at an epsilon at which a stage that leaks would stand out."""
    for case in cases(name, epsilon=6, samples=100, seed=5):
        found = case()
        assert found.verdict == HOLDS, found


def test_questions_stay_within_their_claim() -> None:
    """The short audit of the gate, with every cut, on the pairs that move the most."""
    worst = [pair for pair in PAIRS if pair.name in {"long transaction", "only transaction"}]
    found = [case() for case in cases("questions", epsilon=1, samples=250, seed=5, pairs=worst)]
    assert [verdict for verdict in found if verdict.verdict == BROKEN] == []
    assert max(verdict.bound for verdict in found) > 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cases("magic", epsilon=1, samples=100, seed=1), "give all, questions, noise"),
        (lambda: cases("all", epsilon=1, samples=3, seed=1), "at least 20"),
        (lambda: cases("all", epsilon=0, samples=100, seed=1), "above 0"),
        (lambda: printed_cases("magic", epsilon=1, samples=100, seed=1), "no printed form"),
    ],
)
def test_an_audit_that_makes_no_sense_is_refused(call: Callable[[], object], message: str) -> None:
    """In one line."""
    with pytest.raises(BadCall, match=message):
        call()


def test_a_verdict_has_the_keys_of_the_contract() -> None:
    """Scripts depend on these names."""
    verdict = Verdict("m", "c", False, 1.0, 0.5, 0.95, 10, "e")  # noqa: FBT003
    keys = {"method", "case", "printed", "claim", "bound", "confidence", "samples", "event", "verdict"}
    assert set(verdict.to_dict()) == keys
    assert json.dumps(verdict.to_dict())


class HalfNoise(SeededNoise):
    """Noise of nine tenths of the scale that was asked for."""

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """Too little."""
        return super().discrete_laplace(counts, scale=scale * Fraction(9, 10))


def test_the_self_test_accepts_good_noise_and_rejects_bad() -> None:
    """The noise that ships passes; a tenth less does not."""
    assert all(test.is_fine for test in check_noise(SecureNoise(), draws=5000))
    assert not any(test.is_fine for test in check_noise(HalfNoise(1)))


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


class Offset:
    """Noise that moves every count far away, so that an exact one that gets past it is found."""

    is_private = True

    def __init__(self) -> None:
        self._seeded = SeededNoise(3)

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """Add a constant."""
        assert scale > 0
        return counts.values + 1_000_003

    def below(self, bound: int) -> int:
        """As usual."""
        return self._seeded.below(bound)

    def keys(self, number: int) -> Keys:
        """As usual."""
        return self._seeded.keys(number)


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
