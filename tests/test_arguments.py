"""The door of the library: whatever a caller hands in, it is taken, or refused by an error of ours."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veilset as vs
from veilset.arguments import a_path, either, exact_number, finite_or_infinite, path_or_items, truth
from veilset.evaluate import Study
from veilset.gate import Curator
from veilset.rationals import rational_of
from veilset.wording import shown

ODD_TEXTS = ["", "  ", " 5 ", "five", "1/0", "nan", "inf", "1e999999", "0x5", "5\n", "\u202e5"]
ODD_NUMBERS = [
    True,
    0,
    -1,
    1.5,
    float("nan"),
    float("inf"),
    10**30,
    10**400,
    Decimal("NaN"),
    Decimal("sNaN"),
    1j,
]
ODD_ARRAYS = [np.float64("nan"), np.bool_(True), np.array([5, 6])]  # noqa: FBT003
ODD_OBJECTS = [b"5", [], [5], {}, {5}, object(), len, range(3)]
ODD = [*ODD_TEXTS, *ODD_NUMBERS, *ODD_ARRAYS, *ODD_OBJECTS]

TOO_LONG = 10**5000
"""More digits than Python writes out: a message that quotes it would fail itself."""

BASKETS = [["milk", "tea"]] * 60 + [["tea"]] * 20

NUMBERED = (
    "epsilon",
    "delta",
    "per_owner",
    "public_count",
    "transactions",
    "noise",
    "account",
    "public_items",
)
READING = (
    *("format", "owner", "basket", "item", "separator", "header", "multiplicity", "skip_bad_rows"),
    *("alphabet", "query", "columns"),
)
VERBS: dict[str, tuple[str, ...]] = {
    "mine": ("k", "min_support", "max_size", "max_len", "method", "alphabet", *NUMBERED),
    "items": ("k", "method", "alphabet", *NUMBERED),
    "publish": (
        "fan_out",
        "taxonomy",
        "method",
        "epsilon",
        "delta",
        "per_owner",
        "noise",
        "account",
        "public_items",
    ),
    "open_curator": ("epsilon", "per_owner", "public_count", "noise", "threads", "public_items", "alphabet"),
    "mine_exact": ("k", "min_support", "max_size", "max_len", "maximal"),
    "read": ("owner", "basket", "item", "header", "multiplicity", "skip_bad_rows"),
    "rules": ("metric", "min_threshold", "min_confidence", "surely"),
    "Study.of": (
        "methods",
        "epsilons",
        "ks",
        "min_supports",
        "max_size",
        "task",
        "repeats",
        "seed",
        "per_owner",
        "delta",
    ),
    "Ledger.dataset": ("epsilon", "delta", "per_release"),
    "Ledger.create": ("epsilon", "delta", "per_release"),
    "Ledger.raise_total": ("epsilon", "delta"),
    "for_release": ("partition", "reference", "same_people_as", "different_people"),
    "read a file": READING,
    "read a long table": READING,
    "check": ("source", *READING),
    "read anything": ("source",),
    "mine anything": ("data",),
    "describe": ("data",),
    "plan": (
        *("facts", "rows", "items", "length", "k", "want_found", "want_error", "max_size", "max_len"),
        *("kth_support", "error", "delta", "all_methods"),
    ),
    "plan at an epsilon": ("epsilon", "error"),
    "plan_epsilon": ("facts", "epsilons", "all_methods"),
    "make_plan": ("facts", "error", "most_methods"),
    "Facts": ("rows", "items", "length"),
    "evaluate": (
        *("data", "methods", "epsilon", "k", "min_support", "max_size", "task", "repeats", "seed"),
        *("per_owner", "delta", "workers", "results", "progress", "name", "runs"),
    ),
    "audit": ("subject", "epsilon", "printed", "samples", "seed", "progress"),
    "exact": ("data", "k", "min_support", "max_size", "max_len", "maximal"),
    "generate": ("rows", "quest_items", "length", "seed"),
    "compare": ("first", "second"),
    "plot": ("kind", "measure"),
    "report": ("path",),
    "save": ("path",),
    "load": ("path",),
    "to_mlxtend": ("complete",),
    "to_onehot": ("sparse",),
    "write a dataset": ("path",),
    "write_encoded": ("transactions", "path"),
    "write_report": ("release", "path"),
    "SeededNoise": ("seed",),
    "Alphabet": ("names",),
    "Ledger": ("url",),
    "fit": ("k", "min_support", "method", "max_size", "alphabet", *(set(NUMBERED) - {"public_count"})),
}
"""Every function at the door, and the arguments that are handed odd things."""

SEEDED: dict[str, Any] = {"epsilon": 1, "public_items": True}
USUAL_STUDY: dict[str, Any] = {"methods": ["planned"], "epsilons": [1], "ks": [3]}


@pytest.fixture
def doors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[..., object]]:
    """The functions, each ready to be called with one odd argument; files of odd names go into a folder."""
    monkeypatch.chdir(tmp_path)
    found, release, published = results_at_hand()
    monkeypatch.setattr(
        "veilset.audit.runner.exact_verdict", lambda *_, **__: found
    )  # the door is tried, no more
    baskets, ledger, numbers = vs.read(BASKETS), vs.Ledger(f"sqlite:///{tmp_path}/budget.db"), count()
    account = ledger.create("stores", epsilon=1)

    def seeded(verb: Callable[..., object], **usual: object) -> Callable[..., object]:
        return lambda **odd: verb(baskets, **({"noise": vs.SeededNoise(1), **SEEDED, **usual} | odd))

    return {
        "mine": seeded(vs.mine, k=2),
        "items": seeded(vs.items, k=2),
        "publish": seeded(vs.publish),
        "open_curator": seeded(vs.open_curator),
        "mine_exact": lambda **odd: vs.mine_exact(baskets, **({"k": 2} | odd)),
        "read": lambda **odd: vs.read(BASKETS, **odd),
        "rules": release.rules,
        "Study.of": lambda **odd: Study.of(**(USUAL_STUDY | odd)),
        "Ledger.dataset": lambda **odd: ledger.dataset(f"d{next(numbers)}", **({"epsilon": 1} | odd)),
        "Ledger.create": lambda **odd: ledger.create(f"c{next(numbers)}", **({"epsilon": 1} | odd)),
        "Ledger.raise_total": lambda **odd: ledger.raise_total("stores", reason="more", **odd),
        "for_release": account.for_release,
        **_doors_of_sources(tmp_path),
        **_doors_of_verbs(baskets),
        **_doors_of_results(baskets, release, published),
    }


@cache
def results_at_hand() -> tuple[object, vs.Release, vs.Published]:
    """One of each kind, made once: of an audit, of a release, of a published dataset."""
    noise: dict[str, Any] = {"noise": vs.SeededNoise(1), **SEEDED}
    return vs.audit("em", samples=0)[0], vs.mine(BASKETS, k=3, **noise), vs.publish(BASKETS, **noise)


def _doors_of_sources(folder: Path) -> dict[str, Callable[..., object]]:
    path = folder / "a.csv"
    path.write_text("who,what\n1,a\n2,b\n")
    named: dict[str, Any] = {"owner": "who", "item": "what"}
    return {
        "read a file": lambda **odd: vs.read(path, **odd),
        "read a long table": lambda **odd: vs.read(path, **(named | odd)),
        "check": lambda **odd: vs.check(**({"source": path} | odd)),
        "read anything": vs.read,
        "mine anything": lambda data: vs.mine(data, k=1, noise=vs.SeededNoise(1), **SEEDED),
        "describe": vs.describe,
    }


def _doors_of_verbs(baskets: vs.Transactions) -> dict[str, Callable[..., object]]:
    counts: dict[str, Any] = {"rows": 100, "items": 9, "length": 2.0}
    facts: dict[str, Any] = {"facts": vs.Facts(**counts), "k": 2}
    study: dict[str, Any] = {"data": baskets, "methods": "planned", "epsilon": 1, "k": 2, "repeats": 1}
    audited: dict[str, Any] = {"subject": "em", "samples": 0}
    fitted: dict[str, Any] = {"k": 2, "noise": vs.SeededNoise(1), **SEEDED}
    return {
        "plan": lambda **odd: vs.plan(**(counts | {"k": 2} | odd)),
        "plan at an epsilon": lambda **odd: vs.plan(**(counts | {"k": 2, "epsilon": 1} | odd)),
        "plan_epsilon": lambda **odd: vs.plan_epsilon(**(facts | odd)),
        "make_plan": lambda **odd: vs.make_plan(**(facts | {"epsilon": 1, "most_methods": 1} | odd)),
        "Facts": lambda **odd: vs.Facts(**(counts | odd)),
        "evaluate": lambda **odd: vs.evaluate(**(study | odd)),
        "audit": lambda **odd: vs.audit(**(audited | odd)),
        "exact": lambda **odd: (
            vs.exact(baskets, **({"k": 2} | odd)) if "data" not in odd else vs.exact(odd["data"], k=2)
        ),
        "generate": lambda **odd: vs.generate(**({"rows": 10} | odd)),
        "SeededNoise": vs.SeededNoise,
        "Alphabet": lambda names: vs.Alphabet(names, is_given=True),
        "Ledger": vs.Ledger,
        "fit": lambda **odd: vs.PrivateItemsets(**(fitted | odd)).fit(baskets),
    }


def _doors_of_results(
    baskets: vs.Transactions, release: vs.Release, published: vs.Published
) -> dict[str, Callable[..., object]]:
    encoded: dict[str, Any] = {"transactions": baskets, "path": "x.arrow"}
    page: dict[str, Any] = {"release": release, "path": "x.html"}
    return {
        "compare": lambda **odd: vs.compare(**({"first": release, "second": release} | odd)),
        "plot": release.plot,
        "report": release.report,
        "save": release.save,
        "load": vs.Release.load,
        "to_mlxtend": release.to_mlxtend,
        "to_onehot": published.to_onehot,
        "write a dataset": published.write,
        "write_encoded": lambda **odd: vs.write_encoded(**(encoded | odd)),
        "write_report": lambda **odd: vs.write_report(**(page | odd)),
    }


def foreign_errors(verb: str, call: Callable[..., object], given: list[Any]) -> Iterator[str]:
    """What ends in an error that is not ours, in words."""
    for argument, odd in product(VERBS[verb], given):
        if not (argument == "progress" and callable(odd)):  # what is called may fail as it likes
            try:
                call(**{argument: odd})
            except (vs.VeilsetError, OSError):  # a file that cannot be written fails as everywhere in Python
                continue
            except Exception as error:  # noqa: BLE001 - whichever it is, it is a failure
                yield f"{verb}({argument}={shown(odd)}): {type(error).__name__}"


def test_there_are_more_than_five_thousand_odd_calls() -> None:
    """Every function, every argument, every odd thing."""
    assert sum(map(len, VERBS.values())) * len(ODD) > 5000


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_odd_ends_in_a_foreign_error(doors: dict[str, Callable[..., object]], verb: str) -> None:
    """It is taken for what it must mean, or refused by an error of ours."""
    assert list(foreign_errors(verb, doors[verb], ODD)) == []


@pytest.mark.parametrize("verb", [verb for verb in VERBS if not verb.startswith("Ledger")])
def test_a_number_too_long_to_be_written_is_quoted_by_its_type(
    doors: dict[str, Callable[..., object]], verb: str
) -> None:
    """Python itself refuses to write it into a message."""
    assert list(foreign_errors(verb, doors[verb], [TOO_LONG, -TOO_LONG, Fraction(1, TOO_LONG)])) == []


def test_a_door_without_checks_lets_foreign_errors_through(
    doors: dict[str, Callable[..., object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: take the check of whole numbers away, and the same calls fail elsewhere."""
    monkeypatch.setattr("veilset.request.whole", lambda given, *_, **__: given)
    found = list(foreign_errors("mine_exact", doors["mine_exact"], ODD_TEXTS))
    assert any("k='five'" in each for each in found)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "k as text": ({"k": "5"}, "k, the number of itemsets, is '5'; give a whole number"),
    "k between numbers": ({"k": 1.5}, "k, the number of itemsets, is 1.5; give a whole number"),
    "k beyond all use": (
        {"k": 10_001},
        "k, the number of itemsets, is 10001; give a whole number, at most 10000",
    ),
    "k a truth value": ({"k": True}, "k, the number of itemsets, is True"),
    "half a transaction": (
        {"k": 1, "per_owner": 1.5},
        "per_owner 1.5 is no number of transactions of one person",
    ),
    "noise a number": ({"k": 1, "noise": 7}, "noise is 7; give SeededNoise(seed), or leave it out"),
    "noise nothing": ({"k": 1, "noise": 0}, "noise is 0; give SeededNoise"),
    "epsilon nan": ({"k": 1, "epsilon": Decimal("NaN")}, "epsilon Decimal('NaN') is not a number"),
    "epsilon a truth value": ({"k": 1, "epsilon": True}, "epsilon True is not a number"),
    "public items a word": ({"k": 1, "public_items": "no"}, "public_items is 'no'; give True or False"),
    "two names": (
        {"k": 1, "max_size": 1, "max_len": 1},
        "max_size and max_len are two names of one argument",
    ),
    "two counts": (
        {"k": 1, "public_count": 8, "transactions": 8},
        "public_count and transactions are two names",
    ),
    "a share or a count": ({"min_support": 1.0}, "may mean all transactions or one of them"),
    "the same as text": ({"min_support": "1.0"}, "may mean all transactions or one of them"),
    "the same with an exponent": ({"min_support": "1e0"}, "may mean all transactions or one of them"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_meant_is_refused_in_words(name: str) -> None:
    """What was given, and what to give; a ValueError for whoever expects one."""
    given, message = REFUSED[name]
    with pytest.raises(vs.BadCall) as refused:
        vs.mine(BASKETS, **({"noise": vs.SeededNoise(1)} | SEEDED | given))
    assert message in str(refused.value)
    assert isinstance(refused.value, ValueError)


def test_no_release_holds_more_itemsets_or_items_than_the_most() -> None:
    """A trillion itemsets would be paid for and never end; the exact answer, which costs nothing, has no such limit."""
    with pytest.raises(
        vs.BadCall, match="k, the number of items, is 10001; give a whole number, at most 10000"
    ):
        vs.items(BASKETS, k=10_001, **({"noise": vs.SeededNoise(1)} | SEEDED))
    with pytest.raises(vs.BadCall, match="at most 10000"):
        Study.of(methods=["planned"], epsilons=[1], ks=[10**12])
    assert len(vs.mine_exact(BASKETS, k=10**12).itemsets) > 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_confidence": 50}, "a share, at most 1"),
        ({"metric": "support", "min_threshold": 2}, "at most 1"),
    ],
)
def test_a_share_above_one_is_no_threshold(given: dict[str, Any], message: str) -> None:
    """50 means 50 %, which is 0.5; a lift may well be above 1."""
    release = vs.mine(BASKETS, k=3, noise=vs.SeededNoise(1), **SEEDED)
    with pytest.raises(vs.BadCall, match=message):
        release.rules(**given)
    assert release.rules(metric="lift", min_threshold=50).height == 0


def test_numbers_of_numpy_are_numbers() -> None:
    """And mean what they say."""
    given: dict[str, Any] = {"epsilon": np.float64(0.5), "k": np.int64(2), "public_count": np.int32(80)}
    others: dict[str, Any] = {"max_len": np.int8(1), "public_items": np.bool_(True)}  # noqa: FBT003
    release = vs.mine(BASKETS, **given, **others)
    assert (release.epsilon, release.transactions.value) == (Fraction(1, 2), 80)
    assert {len(found.items) for found in release.itemsets} == {1}
    assert release.origin is not None
    assert release.origin.request == {"k": 2, "min_support": None, "max_size": 1}


def test_one_is_a_count() -> None:
    """As an integer, or as text without a decimal."""
    ones: list[Any] = [1, "1", Fraction(1), np.int64(1)]
    for one in ones:
        found = vs.mine_exact(BASKETS, min_support=one)
        assert len(found) == 3


def test_other_names_mean_the_same() -> None:
    """`max_len` as in mlxtend, and `public_count` for what is counted."""
    both: list[dict[str, Any]] = [{"max_len": 1, "public_count": 80}, {"max_size": 1, "transactions": 80}]
    for names in both:
        found = vs.mine(BASKETS, k=2, noise=vs.SeededNoise(1), **SEEDED, **names)
        assert (found.transactions.value, found.transactions.is_public) == (80, True)
    assert len(vs.mine_exact(BASKETS, k=9, max_len=1)) == 2
    curator = vs.open_curator(BASKETS, noise=vs.SeededNoise(1), public_count=80, **SEEDED)
    assert isinstance(curator, Curator)
    assert curator.public_number == 80


def test_input_that_cannot_be_read_is_a_value_error_too() -> None:
    """Whoever catches those catches it."""
    with pytest.raises(ValueError, match="does not exist"):
        vs.read("no-such-file.dat")


def test_each_check_takes_what_is_right() -> None:
    """And hands it on as it is, or exactly."""
    assert exact_number(Decimal("0.1"), "epsilon", such_as="1") == rational_of(0.1) == Fraction(1, 10)
    assert finite_or_infinite(Decimal(2), "a threshold") == 2.0
    assert truth(False, "surely") is False  # noqa: FBT003
    assert a_path(Path("a.csv"), "taxonomy") == Path("a.csv")
    assert path_or_items(["tea"], "alphabet") == ["tea"]
    assert either(a=None, b=None) is None
    assert shown(TOO_LONG) == "something of the type int"
