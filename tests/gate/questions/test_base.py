"""Pay before you look: one handout of what is private, and no question, found by introspection, that goes around it."""

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from curators import ONE_TRANSACTION, Untouchable, curator_over, unnamed_curator_over
from strategies import ALPHABET_SIZE, transactions_of
from veilset import gate
from veilset.audit.two_steps import TwoSteps
from veilset.errors import BudgetExceeded
from veilset.gate import (
    Budget,
    ChainedLaplace,
    Curator,
    DiscreteLaplace,
    DropLonger,
    KeepAll,
    KeepRandom,
    NoisyHistogram,
    OnlyItems,
    Partitions,
    PersonCurator,
    Refinement,
    Reshape,
    SeededNoise,
    SizeTest,
    Split,
    UnnamedCurator,
)
from veilset.gate.accounting.parallel import ParallelAccount
from veilset.gate.questions.base import after_reshaping
from veilset.itemsets import Itemsets
from veilset.taxonomy import Taxonomy

if TYPE_CHECKING:
    from veilset.raw.engines import Engine
    from veilset.raw.engines.partitions import ExactPartitions

GATE = Path(gate.__file__).parent
HOLDERS = ("__engine", "__exact")
"""Under these names exact answers are kept."""
WAYS_AROUND = ("__dict__", "__getattribute__", "vars")
"""By these a hidden name could be read without being written out."""


def mentions(node: ast.AST, where: str = "") -> Iterator[tuple[str, str]]:
    """Every mention of a holder, of a charge or of a way around, as (class and function, what is done to what)."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        where = f"{where}.{node.name}" if where else node.name
    names = {ast.Attribute: "attr", ast.Name: "id", ast.Constant: "value"}
    name = getattr(node, names.get(type(node), ""), None)
    if isinstance(name, str):
        what = next((each for each in (*HOLDERS, *WAYS_AROUND) if each in name), None)
        done = "writes" if isinstance(getattr(node, "ctx", None), ast.Store) else "reads"
        if what is not None:
            yield where, f"{done} {what}"
        elif isinstance(node, ast.Attribute) and name in {"charge", "charge_gaussian"}:
            yield where, "charges"
    for child in ast.iter_child_nodes(node):
        yield from mentions(child, where)


def test_only_pay_charges_and_hands_out_what_is_private() -> None:
    """In all questions and both curators: two constructors hide it, three `_pay` charge and hand it out, no more."""
    sources = [*(GATE / "questions").glob("*.py"), GATE / "curator.py", GATE / "discovery.py"]
    found = sorted(mention for source in sources for mention in mentions(ast.parse(source.read_text())))
    assert found == [
        ("PaidLooks.__init__", "writes __engine"),
        ("PaidLooks._pay", "charges"),
        ("PaidLooks._pay", "reads __engine"),
        ("PaidLooks._pay_gaussian", "charges"),
        ("PaidLooks._pay_gaussian", "reads __engine"),
        ("Partitions.__init__", "writes __exact"),
        ("Partitions._pay", "charges"),
        ("Partitions._pay", "reads __exact"),
    ]


@pytest.mark.parametrize(
    ("breach", "found"),
    [
        ("def ask(self): return self._PaidLooks__engine.number()", "reads __engine"),
        ("def ask(self): return getattr(self, '_PaidLooks__engine').number()", "reads __engine"),
        ("def ask(self): return vars(self)['_PaidLooks' + '__eng' + 'ine']", "reads vars"),
        ("def ask(self): self.budget.charge('number', mechanism)", "charges"),
        ("def ask(self): self.budget.charge_gaussian('number', epsilon=epsilon)", "charges"),
        ("def ask(self): self.__engine = None", "writes __engine"),
    ],
)
def test_a_way_around_pay_is_noticed(breach: str, found: str) -> None:
    """The control: one line in a class is enough."""
    assert ("CountQuestions.ask", found) in list(mentions(ast.parse(f"class CountQuestions:\n    {breach}")))


@pytest.mark.parametrize(
    ("holder", "uses"),
    [
        ("PaidLooks", ["self.__engine = engine"]),
        (
            "Questions",
            [
                "super().__init__(engine, budget=budget, noise=noise, unit=unit, public_number=public_number)",
                "self._alphabet = engine.alphabet",
            ],
        ),
    ],
)
def test_a_constructor_keeps_no_second_engine(holder: str, uses: list[str]) -> None:
    """It hides the engine, or hands it to the one that does and takes the public alphabet; no more."""
    tree = ast.parse((GATE / "questions" / "base.py").read_text())
    constructor = next(
        function
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == holder
        for function in node.body
        if isinstance(function, ast.FunctionDef) and function.name == "__init__"
    )
    assert [ast.unparse(line) for line in constructor.body if "engine" in ast.unparse(line)] == uses


def test_a_curator_over_unnamed_items_knows_nothing_of_its_own() -> None:
    """No constructor beside that of `PaidLooks`, and none of what tells which items there are."""
    assert "__init__" not in vars(UnnamedCurator)
    public = {name for name in dir(UnnamedCurator) if not name.startswith("_")}
    assert public - questions_of(UnnamedCurator) == {"budget", "is_private", "public_number", "unit"}


SOME = Itemsets.of([(0,), (0, 1)])
ITEMS = np.arange(3)

ASKED: dict[str, Callable[[Curator, Fraction], object]] = {
    "ask_number": lambda curator, epsilon: curator.ask_number(epsilon=epsilon),
    "ask_lengths": lambda curator, epsilon: curator.ask_lengths(limit=3, epsilon=epsilon),
    "ask_item_supports": lambda curator, epsilon: curator.ask_item_supports(epsilon=epsilon),
    "ask_supports": lambda curator, epsilon: curator.ask_supports(SOME, epsilon=epsilon),
    "ask_reshaped_supports": lambda curator, epsilon: curator.ask_reshaped_supports(
        SOME, reshape=KeepRandom(1), epsilon=epsilon
    ),
    "ask_containment": lambda curator, epsilon: curator.ask_containment(
        SOME, classes=(0, 1), epsilon=epsilon
    ),
    "ask_capped_counts": lambda curator, epsilon: curator.ask_capped_counts(SOME, most=1, epsilon=epsilon),
    "ask_normalised_supports": lambda curator, epsilon: curator.ask_normalised_supports(2, epsilon=epsilon),
    "ask_unlikeness": lambda curator, epsilon: curator.ask_unlikeness(
        ITEMS, limit=2, average=Fraction(3, 2), epsilon=epsilon
    ),
    "ask_total": lambda curator, epsilon: curator.ask_total(ITEMS, most=2, epsilon=epsilon),
    "ask_marginal": lambda curator, epsilon: curator.ask_marginal((0, 2), epsilon=epsilon),
    "ask_kth_support": lambda curator, epsilon: curator.ask_kth_support(
        1, domain=curator.domain(max_size=2), epsilon=epsilon
    ),
    "ask_largest_support": lambda curator, epsilon: curator.ask_largest_support(2, floor=1, epsilon=epsilon),
    "ask_best": lambda curator, epsilon: curator.ask_best(
        1, domain=curator.domain(max_size=1), epsilon=epsilon
    ),
    "ask_best_of": lambda curator, epsilon: curator.ask_best_of(1, SOME, epsilon=epsilon),
    "ask_matching_rank": lambda curator, epsilon: curator.ask_matching_rank(
        1, domain=curator.domain(max_size=2), most=2, epsilon=epsilon
    ),
    "ask_frequent_items": lambda curator, epsilon: curator.ask_frequent_items(
        1, domain=curator.domain(max_size=2), least=1, most=2, epsilon=epsilon
    ),
    "ask_frequent_of": lambda curator, epsilon: curator.ask_frequent_of(
        1, SOME, domain=curator.domain(max_size=2), epsilon=epsilon
    ),
    "ask_truncating_length": lambda curator, epsilon: curator.ask_truncating_length(
        (1, 2), k=1, price=Fraction(1), epsilon=epsilon
    ),
    "ask_above_kth": lambda curator, epsilon: curator.ask_above_kth(
        ITEMS, 1, epsilon=epsilon, by_blocks=True
    ),
    "ask_search": lambda curator, epsilon: curator.ask_search(
        TwoSteps(epsilon / 4), k=1, domain=curator.domain(max_size=2), most=2, epsilon=epsilon
    ),
    "ask_prefix_tree": lambda curator, epsilon: curator.ask_prefix_tree(
        (0, 1), depth=2, threshold=10**12, epsilon=epsilon
    ),
    "ask_partitions": lambda curator, epsilon: curator.ask_partitions(
        Taxonomy.of([0, [1, 2]]), epsilon=epsilon
    ),
}
"""One call of every question of a curator."""

TINY_DELTA = Fraction(1, 10**9)
NO_LENGTHS = NoisyHistogram(np.zeros(2, np.int64), DiscreteLaplace(1, Fraction(1)))

UNNAMED: dict[str, Callable[[UnnamedCurator, Fraction], object]] = {
    "ask_length_classes": lambda curator, epsilon: curator.ask_length_classes((0, 1, 3), epsilon=epsilon),
    "ask_kth_support": lambda curator, epsilon: curator.ask_kth_support(2, max_size=3, epsilon=epsilon),
    "ask_alphabet": lambda curator, epsilon: curator.ask_alphabet(
        "laplace", longest=2, epsilon=epsilon, delta=TINY_DELTA, lengths=NO_LENGTHS
    ),
}
"""One call of every question about unnamed items."""

PERSONS: dict[str, Callable[[PersonCurator, Fraction], object]] = {
    "ask_transactions_by_person": lambda curator, epsilon: curator.ask_transactions_by_person(
        (1, 2, 4), epsilon=epsilon
    ),
    "ask_kth_support_of_one_each": lambda curator, epsilon: curator.ask_kth_support_of_one_each(
        2, max_size=3, epsilon=epsilon
    ),
}
"""One call of every question about persons."""

SPLIT: dict[str, Callable[[Partitions, Fraction], object]] = {
    "ask_split": lambda partitions, epsilon: partitions.ask_split(
        Refinement(
            np.zeros(1, np.int64),
            np.zeros(1, np.int64),
            (SizeTest(epsilon, 1),),
            np.zeros(1, np.int64),
            np.zeros(1, np.int64),
        )
    ),
}
"""One call of every question of partitions."""

ASKED_OF: dict[str, Callable[[Curator], Curator]] = {
    "data": lambda curator: curator,
    "sample": lambda curator: curator.on_sample(Fraction(1, 2), epsilon=Fraction(1)),
    "sample of a sample": lambda curator: curator.on_sample(Fraction(1, 2), epsilon=Fraction(1)).on_sample(
        Fraction(1, 2), epsilon=Fraction(1, 2)
    ),
}


def questions_of(class_: type) -> set[str]:
    """The names of its questions, inherited ones as well."""
    return {name for name in dir(class_) if name.startswith("ask_")}


def classes_with_questions() -> Iterator[type]:
    """All classes of the gate that can be asked, wherever they stand."""
    for module in pkgutil.walk_packages(gate.__path__, f"{gate.__name__}."):
        for class_ in vars(importlib.import_module(module.name)).values():
            if isinstance(class_, type) and questions_of(class_):
                yield class_


def test_every_question_has_a_case_here() -> None:
    """A new one without a case below fails here: nobody would have tried it on a budget that is too small."""
    assert questions_of(Curator) == {*ASKED, "ask_root_counts"}  # which needs delta: see test_root_counts
    assert questions_of(Partitions) == set(SPLIT)
    assert questions_of(UnnamedCurator) == set(UNNAMED)
    assert questions_of(PersonCurator) == set(PERSONS)
    found = set(classes_with_questions())
    assert {Curator, Partitions, UnnamedCurator, PersonCurator} <= found
    for class_ in found:
        assert issubclass(Curator, class_) or class_ in {Partitions, UnnamedCurator, PersonCurator}


def untouchable_curator(epsilon: Fraction) -> Curator:
    """A curator over an engine that nobody may ask."""
    engine = cast("Engine", Untouchable(transactions_of([frozenset({0})])))
    return Curator(engine, budget=Budget(epsilon), noise=SeededNoise(1), unit=ONE_TRANSACTION)


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("of", ASKED_OF)
def test_a_question_that_the_budget_cannot_pay_does_not_look(name: str, of: str) -> None:
    """BudgetExceeded comes first; the budget stays as it was."""
    curator = untouchable_curator(Fraction(1, 2 * 10**9))
    asked = ASKED_OF[of](curator)
    with pytest.raises(BudgetExceeded, match="only 1/2000000000 of 1/2000000000 is left"):
        ASKED[name](asked, Fraction(1, 10**9))
    assert curator.budget.spent == asked.budget.spent == 0


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("of", ASKED_OF)
def test_a_question_that_was_paid_for_does_look(name: str, of: str) -> None:
    """The control: the same call in a budget that is large enough is charged, and then meets the engine."""
    curator = untouchable_curator(Fraction(1))
    with pytest.raises(pytest.fail.Exception, match="looked at the data"):
        ASKED[name](ASKED_OF[of](curator), Fraction(1, 10**3))
    assert len(curator.budget.charges) == 1


def untouchable_unnamed_curator(epsilon: Fraction, *, delta: Fraction = TINY_DELTA) -> UnnamedCurator:
    """The same over items that nobody may know."""
    engine = cast("Engine", Untouchable(transactions_of([frozenset({0})])))
    budget = Budget(epsilon, delta=delta)
    return UnnamedCurator(engine, budget=budget, noise=SeededNoise(1), unit=ONE_TRANSACTION)


@pytest.mark.parametrize("name", UNNAMED)
def test_a_question_about_unnamed_items_that_cannot_be_paid_does_not_look(name: str) -> None:
    """BudgetExceeded comes first; where it was paid for, the question meets the engine."""
    poor = untouchable_unnamed_curator(Fraction(1, 2 * 10**3))
    with pytest.raises(BudgetExceeded, match="only 1/2000 of 1/2000 is left"):
        UNNAMED[name](poor, Fraction(1, 10**3))
    assert poor.budget.charges == ()
    rich = untouchable_unnamed_curator(Fraction(1))
    with pytest.raises(pytest.fail.Exception, match="looked at the data"):
        UNNAMED[name](rich, Fraction(1, 10**3))
    assert len(rich.budget.charges) == 1


def test_items_are_not_named_without_enough_delta() -> None:
    """Epsilon alone does not pay for it, and the account stays as it was."""
    curator = untouchable_unnamed_curator(Fraction(1), delta=TINY_DELTA / 2)
    with pytest.raises(BudgetExceeded, match="asks for delta 1e-09, but only 5e-10 of 5e-10 is left"):
        UNNAMED["ask_alphabet"](curator, Fraction(1, 2))
    assert curator.budget.charges == ()
    assert curator.budget.delta_left == TINY_DELTA / 2


IN_WORDS = {
    "ask_number": "number of transactions",
    "ask_lengths": "lengths of transactions, from 0 to 3 items or more",
    "ask_item_supports": "supports of all items",
    "ask_supports": "supports of 2 itemsets",
    "ask_reshaped_supports": "supports of 2 itemsets, transactions truncated to at most 1 item (KeepRandom)",
    "ask_containment": "number of itemsets held, of 2 candidates, in 2 classes",
    "ask_capped_counts": "supports of 2 itemsets, contribution cap 1",
    "ask_normalised_supports": "supports of items, transactions normalised to 2 items",
    "ask_unlikeness": "how unlike long and short transactions are in 3 items, up to 2 items in length",
    "ask_total": "sum of the supports of 3 items, contribution cap 2",
    "ask_marginal": "marginal of 2 items (4 cells)",
    "ask_kth_support": "support of the 1st itemset",
    "ask_largest_support": "largest support of itemsets of 2 items, at least 1",
    "ask_best": "best 1 by support, of the 6 items",
    "ask_best_of": "best 1 by support, of 2 candidates",
    "ask_matching_rank": "number of items as frequent as the 1st itemset, at most 2",
    "ask_frequent_items": "items as frequent as the 1st itemset, 1 to 2 of them",
    "ask_frequent_of": "itemsets as frequent as the 1st itemset, of 2 candidates",
    "ask_truncating_length": "length to which transactions are normalised, of 2 lengths",
    "ask_above_kth": "which of 3 items are among their 1 most frequent",
    "ask_search": "search for itemsets as frequent as the 1st itemset",
    "ask_prefix_tree": "prefix tree of 2 items, depth 2",
    "ask_partitions": "sizes of partitions along a taxonomy of 3 items",
}


@pytest.mark.parametrize("name", ASKED)
def test_the_trace_tells_the_question_in_words(name: str) -> None:
    """One row, with numbers that agree with their nouns, and no item."""
    curator = curator_over([frozenset({0, 1})])
    ASKED[name](curator, Fraction(1, 10**3))
    (charge,) = curator.budget.charges
    assert charge.question == IN_WORDS[name]


PERSONS_IN_WORDS = {
    "ask_transactions_by_person": "transactions of a person, in 3 classes",
    "ask_kth_support_of_one_each": "support of the 2nd itemset, one transaction of each person",
}


@pytest.mark.parametrize("name", PERSONS)
def test_a_question_about_persons_that_cannot_be_paid_does_not_look(name: str) -> None:
    """BudgetExceeded comes first; where it was paid for, the question meets the engine; its row tells it in words."""
    engine = cast("Engine", Untouchable(transactions_of([frozenset({0})])))
    poor = PersonCurator(engine, budget=Budget(Fraction(1, 2 * 10**3)), noise=SeededNoise(1))
    with pytest.raises(BudgetExceeded, match="only 1/2000 of 1/2000 is left"):
        PERSONS[name](poor, Fraction(1, 10**3))
    assert poor.budget.charges == ()
    rich = PersonCurator(engine, budget=Budget(Fraction(1)), noise=SeededNoise(1))
    with pytest.raises(pytest.fail.Exception, match="looked at the data"):
        PERSONS[name](rich, Fraction(1, 10**3))
    (charge,) = rich.budget.charges
    assert charge.question == PERSONS_IN_WORDS[name]


UNNAMED_IN_WORDS = {
    "ask_length_classes": "lengths of transactions, in 3 classes",
    "ask_kth_support": "support of the 2nd itemset",
    "ask_alphabet": "items that enough transactions hold to be named",
}


@pytest.mark.parametrize("name", UNNAMED)
def test_the_trace_tells_a_question_about_unnamed_items_in_words(name: str) -> None:
    """One row, and no item in it."""
    curator = unnamed_curator_over([frozenset({0, 1})])
    UNNAMED[name](curator, Fraction(1, 10**3))
    (charge,) = curator.budget.charges
    assert charge.question == UNNAMED_IN_WORDS[name]


@pytest.mark.parametrize("name", SPLIT)
def test_a_split_that_a_chain_cannot_pay_does_not_look(name: str) -> None:
    """It is refused without a look at the records; where it was paid for, it meets them."""
    budget, paid = Budget(Fraction(1)), ChainedLaplace(1, Fraction(1))
    budget.charge("sizes of partitions", paid)
    partitions = Partitions(
        cast("ExactPartitions", Untouchable(transactions_of([frozenset({0})]))),
        Taxonomy.of([0, [1, 2]]),
        account=ParallelAccount(budget, paid),
        noise=SeededNoise(1),
    )
    with pytest.raises(BudgetExceeded, match="would spend epsilon 3/2, more than the 1 "):
        SPLIT[name](partitions, Fraction(3, 2))
    assert budget.charges[0].mechanism == paid
    with pytest.raises(pytest.fail.Exception, match="looked at the data"):
        SPLIT[name](partitions, Fraction(1))
    assert budget.charges[0].to_dict()["largest_chain"] == ["1"]


ONE_PIECE = Split(1, np.array([0, 1]), np.array([0], np.int32), weights=np.array([1]))


@pytest.mark.parametrize(
    ("reshape", "words"),
    [
        (None, ""),
        (KeepAll(), ""),
        (DropLonger(2), ", transactions emptied if longer than 2 items (DropLonger)"),
        (KeepRandom(1), ", transactions truncated to at most 1 item (KeepRandom)"),
        (ONE_PIECE, ", transactions split into pieces of at most 1 item (Split)"),
        (OnlyItems(np.array([4]), KeepAll()), ", on 1 chosen item"),
        (
            OnlyItems(np.array([4, 5]), KeepRandom(3)),
            ", on 2 chosen items, transactions truncated to at most 3 items (KeepRandom)",
        ),
    ],
    ids=repr,
)
def test_the_trace_tells_what_becomes_of_transactions_and_no_item(
    reshape: Reshape | None, words: str
) -> None:
    """A statistician can read it without the code; which items were chosen stays out of it."""
    assert after_reshaping(reshape) == words


def test_facts_about_the_alphabet_are_public() -> None:
    """They cost nothing, and nobody looks."""
    curator = untouchable_curator(Fraction(1))
    assert curator.alphabet_size == ALPHABET_SIZE
    assert curator.domain(max_size=1).size == ALPHABET_SIZE
    assert len(curator.names((0, 1))) == 2
    assert curator.budget.spent == 0


@pytest.mark.parametrize("name", ["budget", "unit", "public_number"])
def test_who_pays_and_who_is_protected_cannot_be_put_in_anothers_place(name: str) -> None:
    """A smaller unit would mean less noise, another budget no end."""
    curator = curator_over([])
    before = getattr(curator, name)
    with pytest.raises(AttributeError):
        setattr(curator, name, None)
    assert getattr(curator, name) is before
