"""The door: every parameter of every question, handed everything that could cheat; nothing is paid, nobody looks."""

import inspect
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from curators import ONE_TRANSACTION, Untouchable, curator_over
from strategies import ALPHABET_SIZE, transactions_of
from veilset.audit.two_steps import TwoSteps
from veilset.errors import BadCall
from veilset.gate import (
    Budget,
    Curator,
    DiscreteLaplace,
    DropLonger,
    KeepAll,
    KeepBest,
    KeepRandom,
    KeepSimilar,
    KeepSmart,
    NoisyHistogram,
    OnlyItems,
    Partitions,
    PrivacyUnit,
    Refinement,
    SeededNoise,
    SizeTest,
    Split,
    UnnamedCurator,
)
from veilset.itemsets import Domain, Itemsets
from veilset.raw.cuts.row_keys import LongRows
from veilset.raw.cuts.rows import CompressedRows, Keys
from veilset.taxonomy import Taxonomy

if TYPE_CHECKING:
    from veilset.raw.engines import Engine

NAN = float("nan")
BEYOND = ALPHABET_SIZE


class Greedy:
    """Says that it keeps one item, and keeps all."""

    limit = 1

    def longest(self, alphabet_size: int) -> int:
        """One item, it says."""
        return min(1, alphabet_size)

    def keys_needed(self, rows: CompressedRows) -> LongRows | None:
        """None."""
        return LongRows(rows, 0) if rows.offsets.size == 0 else None

    def apply(self, rows: CompressedRows, keys: Keys) -> CompressedRows:
        """Everything."""
        assert keys.size == 0
        return rows


class GreedyRandom(KeepRandom):
    """The same under the cover of a truncation of the house."""

    def longest(self, alphabet_size: int) -> int:
        """One item, it says."""
        return min(1, alphabet_size)


class ManyItemsets(Itemsets):
    """Says that there is one itemset."""

    def __len__(self) -> int:
        return 1


class AlmostFraction(Fraction):
    """A number that could compare as it likes."""


class Fickle:
    """An index that is another one every time it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __index__(self) -> int:
        self.asked += 1
        return 1 if self.asked == 1 else 10**6


def only(*codes: int, then: Any) -> OnlyItems:  # noqa: ANN401 - also what is no truncation
    """What is left of transactions on chosen items."""
    return OnlyItems(np.array(codes), then)


NOT_WHOLE = [1.0, 1.5, NAN, float("inf"), True, np.True_, "1", None, Fraction(1)]
NOT_A_SHARE = [1.0, NAN, float("inf"), 1, True, "1/2", None, Fraction(0), Fraction(-1), AlmostFraction(1)]
NOT_CODES = [
    np.array([0.0, 1.0]),
    np.array([0, NAN]),
    np.array([0, BEYOND]),
    np.array([-1, 0]),
    np.array([0, 0]),
    np.array([[0, 1]]),
    np.array([True, False]),
    np.array([2**40, 0]),
    np.array([2**63], np.uint64),
    (0, 0.5),
    (0, BEYOND),
    (-1,),
    (1, 1),
    "01",
    7,
    (),
]
NOT_ITEMSETS = [
    [(0,), (1,)],
    ManyItemsets(np.array([0, 1, 2]), np.array([0, 1], np.int32)),
    Itemsets.of([(0,), (1, BEYOND)]),
    Itemsets.of([(0, 2**31 - 1)]),
    SimpleNamespace(offsets=np.array([0, 1]), items=np.array([0], np.int32)),
]
NOT_A_TRUNCATION = [
    Greedy(),
    GreedyRandom(5),
    KeepAll,
    only(0, 1, 2, then=Greedy()),
    only(0, 1, 2, then=only(0, 1, then=Greedy())),
    only(0, 1, then=Split(1, np.array([0, 1]), np.array([0], np.int32), np.array([1]))),
    only(0, BEYOND, then=KeepAll()),
    only(0, then=only(BEYOND, then=KeepAll())),
    KeepBest(1, np.arange(ALPHABET_SIZE + 1)),
    KeepBest(1, np.arange(ALPHABET_SIZE - 1)),
    only(0, then=KeepBest(1, np.arange(ALPHABET_SIZE - 1))),
    KeepSimilar(1, np.array([BEYOND]), np.array([0]), np.zeros(0, np.int32)),
    KeepSmart(1, np.array([0, 2]), np.array([0, BEYOND], np.int32), np.array([1])),
]
NOT_A_RESHAPE = [
    *(cut for cut in NOT_A_TRUNCATION if not isinstance(cut, Split)),
    Split(1, np.array([0, 1]), np.array([BEYOND], np.int32), np.array([1])),
    SimpleNamespace(limit=1),
]

BAD: dict[str, list[Any]] = {
    **dict.fromkeys(
        ["k", "limit", "most", "least", "size", "floor", "depth", "threshold", "max_size", "longest"],
        NOT_WHOLE,
    ),
    "epsilon": NOT_A_SHARE,
    "delta": [*NOT_A_SHARE, Fraction(1), Fraction(2)],
    "items": NOT_CODES,
    "order": NOT_CODES,
    "itemsets": NOT_ITEMSETS,
    "candidates": NOT_ITEMSETS,
    "domain": [
        Domain(range(BEYOND + 1), 2),
        Domain((0, BEYOND), 1),
        Domain((BEYOND,), 1),
        SimpleNamespace(items=(0,), size=1),
    ],
    "truncation": NOT_A_TRUNCATION,
    "reshape": NOT_A_RESHAPE,
    "taxonomy": [Taxonomy.of([0, BEYOND]), SimpleNamespace(items=np.array([0])), [0, 1]],
    "classes": [(0, 1.5), (0.0, 1.0), (0, NAN), (False, True), (0,), (0, 2, 1), (-1, 0), ()],
    "limits": [(1.5,), (NAN,), (True,), (0,), (-1, 1), ()],
    "price": [0.5, NAN, 1],
    "average": [1.5, NAN, 1, True, Fraction(1, 2), Fraction(99), Fraction(4, 3), None],
    "law": ["Laplace", "exponential", None],
}
"""What each parameter must refuse, whichever question has it."""

UNCHECKED = {
    "by_blocks": "either way has its own proof",
    "start": "a search may be anybody's: what each step names and pays is checked when it is looked at",
    "lengths": "goes along with the answer, and says nothing about the data but itself",
}

SOME = Itemsets.of([(0,), (0, 1)])
SHARE = Fraction(1, 10**3)
GOOD: dict[str, Any] = {
    "k": 1,
    "limit": 2,
    "most": 2,
    "start": TwoSteps(Fraction(1, 10**5)),
    "least": 1,
    "size": 2,
    "floor": 1,
    "depth": 2,
    "threshold": 10**9,
    "max_size": 2,
    "longest": 2,
    "epsilon": SHARE,
    "delta": Fraction(1, 10**9),
    "items": np.array([0, 2]),
    "order": (0, 2),
    "itemsets": SOME,
    "candidates": SOME,
    "domain": Domain(range(ALPHABET_SIZE), 2),
    "truncation": DropLonger(2),
    "reshape": KeepRandom(2),
    "taxonomy": Taxonomy.of([0, [1, 2]]),
    "classes": (0, 1, 3),
    "limits": (1, 2),
    "price": Fraction(1),
    "average": Fraction(3, 2),
    "law": "laplace",
    "by_blocks": True,
    "lengths": NoisyHistogram(np.zeros(2, np.int64), DiscreteLaplace(1, Fraction(1))),
}


def questions() -> Iterator[tuple[type, str, list[str]]]:
    """Every question of the two curators, with the names of its parameters."""
    for asked in (Curator, UnnamedCurator):
        for name in sorted(vars_of(asked)):
            yield asked, name, list(inspect.signature(getattr(asked, name)).parameters)[1:]


def vars_of(asked: type) -> set[str]:
    """The names of its questions."""
    return {name for name in dir(asked) if name.startswith("ask_")}


CASES = [
    pytest.param(asked, name, parameter, value, id=f"{asked.__name__}.{name}-{parameter}-{number}")
    for asked, name, parameters in questions()
    for parameter in parameters
    for number, value in enumerate(BAD.get(parameter, []))
]


def untouchable(asked: type) -> Any:  # noqa: ANN401 - one of two classes
    """A curator over an engine that nobody may ask."""
    engine = cast("Engine", Untouchable(transactions_of([frozenset({0})])))
    budget = Budget(Fraction(1), delta=Fraction(1, 10**6))
    return asked(engine, budget=budget, noise=SeededNoise(1), unit=ONE_TRANSACTION)


def test_every_parameter_of_every_question_is_tried() -> None:
    """A new one fails here until it is said what it refuses, or why it may be anything."""
    found = {parameter for _, _, parameters in questions() for parameter in parameters}
    assert found == BAD.keys() | UNCHECKED.keys() == GOOD.keys()


@pytest.mark.parametrize(("asked", "name", "parameter", "value"), CASES)
def test_what_could_cheat_is_refused_before_it_is_paid(
    asked: type,
    name: str,
    parameter: str,
    value: Any,  # noqa: ANN401
) -> None:
    """With a message for people; the account stays as it was, and the data is not looked at."""
    curator = untouchable(asked)
    parameters = inspect.signature(getattr(asked, name)).parameters
    call = {each: GOOD[each] for each in parameters if each != "self"}
    with pytest.raises(BadCall):
        getattr(curator, name)(**{**call, parameter: value})
    assert (curator.budget.charges, curator.budget.left) == ((), 1)


@pytest.mark.parametrize(("asked", "name"), [(asked, name) for asked, name, _ in questions()])
def test_the_same_call_without_the_cheat_is_paid_and_looks(asked: type, name: str) -> None:
    """The control."""
    curator = untouchable(asked)
    call = {each: GOOD[each] for each in inspect.signature(getattr(asked, name)).parameters if each != "self"}
    with pytest.raises(pytest.fail.Exception, match="looked at the data"):
        getattr(curator, name)(**call)
    assert len(curator.budget.charges) == 1


def test_a_number_is_read_once() -> None:
    """One that changes between the check and the look is taken for what it was at first."""
    curator = curator_over([frozenset({0, 1, 2})] * 9, epsilon=Fraction(10**6))
    total = curator.ask_total(np.arange(6), most=cast("int", Fickle()), epsilon=Fraction(1000))
    capped = curator.ask_capped_counts(SOME, most=cast("int", Fickle()), epsilon=Fraction(1000))
    for mechanism in (total.mechanism, capped.mechanism):
        assert mechanism is not None
        assert mechanism.sensitivity == 1
    assert KeepRandom(cast("int", Fickle())).longest(6) == 1


def test_arrays_change_no_more_once_they_are_handed_in() -> None:
    """Copies are kept, and nobody can make them writable."""
    codes = np.array([0, 1])
    held: list[npt.NDArray[np.integer]] = [
        only(0, 1, then=KeepAll()).items,
        KeepBest(1, np.arange(6)).rank,
        KeepSimilar(1, codes, np.array([0]), np.zeros(0, np.int32)).order,
        Refinement(codes, codes, (SizeTest(SHARE, 1),), codes, codes).partitions,
        Taxonomy.of([0, [1, 2]]).items,
        SOME.items,
    ]
    for kept in held:
        with pytest.raises(ValueError, match="WRITEABLE"):
            kept.setflags(write=True)
    chosen = OnlyItems(codes, KeepAll())
    tests = [SizeTest(SHARE, 1)]
    split = Refinement(codes, codes, cast("tuple[SizeTest, ...]", tests), codes, codes)
    codes[0] = 5
    tests.append(SizeTest(SHARE, 2))
    assert chosen.items.tolist() == [0, 1]
    assert split.tests == (SizeTest(SHARE, 1),)


@pytest.mark.parametrize("transactions", [0, -1, 1.5, True, NAN])
def test_a_privacy_unit_is_a_whole_number_of_transactions(transactions: float) -> None:
    """A unit of half a transaction would have half the noise."""
    with pytest.raises(BadCall, match="give a whole number, at least 1"):
        PrivacyUnit("owner", cast("int", transactions))


@pytest.mark.parametrize("limit", [0, -1, 1.5, NAN, True])
@pytest.mark.parametrize(
    "make",
    [
        DropLonger,
        KeepRandom,
        lambda limit: KeepBest(limit, np.arange(6)),
        lambda limit: KeepSmart(limit, np.array([0, 2]), np.array([0, 1], np.int32), np.array([1])),
        lambda limit: KeepSimilar(limit, np.array([0]), np.array([0]), np.zeros(0, np.int32)),
        lambda limit: Split(limit, np.array([0, 1]), np.array([0], np.int32), np.array([1])),
    ],
)
def test_a_limit_is_a_whole_number(make: Callable[[Any], object], limit: float) -> None:
    """A truncation to a number that compares with nothing would bound nothing."""
    with pytest.raises(BadCall, match="give a"):
        make(limit)


@pytest.mark.parametrize(
    "lists",
    [
        (np.array([0, 3]), np.array([0, 1], np.int32)),
        (np.array([2, 0]), np.array([0, 1], np.int32)),
        (np.array([0.0, 2.0]), np.array([0, 1], np.int32)),
        (np.array([0, 2]), np.array([0.0, 1.0])),
        (np.array([], np.int64), np.array([0, 1], np.int32)),
    ],
)
def test_lists_of_a_truncation_are_lists_of_codes(lists: tuple[Any, Any]) -> None:
    """Offsets that lead beyond the end are refused where they are handed in."""
    for make in (
        lambda: KeepSmart(1, *lists, np.array([1])),
        lambda: Split(1, *lists, np.array([1])),
        lambda: KeepSimilar(1, np.array([0]), *lists),
    ):
        with pytest.raises(BadCall, match="give "):
            make()


def int64(*values: int) -> Any:  # noqa: ANN401
    """An array of places."""
    return np.array(values, dtype=np.int64)


TEST = (SizeTest(SHARE, 1),)


@pytest.mark.parametrize(
    "split",
    [
        lambda: Refinement(int64(-1), int64(0), TEST, int64(0), int64(0)),
        lambda: Refinement(int64(1), int64(0), TEST, int64(0), int64(0)),
        lambda: Refinement(int64(0), int64(-1), TEST, int64(0), int64(0)),
        lambda: Refinement(int64(0), int64(2), TEST, int64(0), int64(0)),
        lambda: Refinement(int64(0), int64(0), TEST, int64(-1), int64(0)),
        lambda: Refinement(int64(0), int64(0), TEST, int64(1), int64(0)),
        lambda: Refinement(int64(0), int64(0), TEST, int64(0), int64(-1)),
        lambda: Refinement(int64(0), int64(0), TEST, int64(0), int64(1)),
        lambda: Refinement(int64(0), int64(0), (), int64(0), int64(0)),
        lambda: Refinement(int64(0, 0), int64(0, 0), TEST, int64(0, 0), int64(0, 0)),
        lambda: Refinement(int64(0), int64(0, 0), TEST, int64(0), int64(0)),
        lambda: Refinement(np.zeros(1), int64(0), TEST, int64(0), int64(0)),  # type: ignore[arg-type]
        lambda: Refinement(np.array([NAN]), int64(0), TEST, int64(0), int64(0)),
        lambda: Refinement(int64(0)[None], int64(0)[None], TEST, int64(0)[None], int64(0)[None]),
        lambda: Refinement(
            int64(0),
            int64(0),
            cast("Any", (SimpleNamespace(epsilon=SHARE, threshold=1),)),
            int64(0),
            int64(0),
        ),
        lambda: SimpleNamespace(
            partitions=int64(0), nodes=int64(0), tests=TEST, only_items=int64(0), others=int64(0)
        ),
    ],
)
def test_a_split_of_what_is_not_there_costs_nothing(split: Callable[[], Refinement]) -> None:
    """Places are whole numbers from 0 up to what there is; only tests of the house test."""
    curator = curator_over([frozenset({0})])
    partitions: Partitions = curator.ask_partitions(Taxonomy.of([0, [1, 2]]), epsilon=SHARE)
    with pytest.raises(BadCall):
        partitions.ask_split(split())
    (charge,) = curator.budget.charges
    assert charge.to_dict()["largest_chain"] == []


@pytest.mark.parametrize(
    ("epsilon", "threshold"), [(NAN, 1), (1, 1), (SHARE, 1.5), (SHARE, NAN), (SHARE, True)]
)
def test_a_size_test_is_exact(epsilon: Any, threshold: Any) -> None:  # noqa: ANN401
    """A threshold that compares with nothing would let nothing pass, or everything."""
    with pytest.raises(BadCall, match="; give"):
        SizeTest(epsilon, threshold)


@pytest.mark.parametrize(
    ("rate", "epsilon"),
    [
        (0.5, Fraction(1)),
        (NAN, Fraction(1)),
        (1, Fraction(1)),
        *((Fraction(1, 2), bad) for bad in NOT_A_SHARE),
    ],
)
def test_a_sample_has_an_exact_rate_and_price(rate: Any, epsilon: Any) -> None:  # noqa: ANN401
    """Or there is none."""
    with pytest.raises(BadCall):
        untouchable(Curator).on_sample(rate, epsilon=epsilon)
