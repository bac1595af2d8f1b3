"""The settings of planned: what is refused, what follows from what, and that each field says its number."""

import ast
import inspect
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest

from veilset.errors import BadCall
from veilset.methods.planned import settings as module
from veilset.methods.planned.settings import DEFAULT, Settings
from veilset.methods.shared.marginals import noise_of_marginal


def sentences() -> dict[str, str]:
    """The string below each field of the class."""
    (settings,) = (
        node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.ClassDef)
    )
    below = zip(settings.body, settings.body[1:], strict=False)
    return {
        node.target.id: ast.literal_eval(after.value)
        for node, after in below
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(after, ast.Expr)
    }


def written(value: Any) -> str:  # noqa: ANN401 - whatever a field has
    """A number as its sentence starts with it; of several, the first."""
    first = value[0] if isinstance(value, tuple) else value
    return str(first) if isinstance(first, int | Fraction) else f"{first:.10f}".rstrip("0").rstrip(".")


@pytest.mark.parametrize("field", fields(Settings), ids=lambda field: field.name)
def test_every_field_has_a_sentence_that_starts_with_its_number(field: Any) -> None:  # noqa: ANN401
    """And ends with a full stop; a changed default without a changed sentence fails here."""
    sentence = sentences()[field.name]
    number, _, rest = sentence.partition(" ")
    assert number.rstrip(":,") == written(field.default)
    assert rest
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"share_for_kth": Fraction(0)}, "share_for_kth = 0 is not possible; give numbers above 0"),
        ({"unevenness": -0.1}, "unevenness = -0.1 is not possible"),
        ({"candidates_per_k": ()}, "candidates_per_k = .* is not possible"),
        ({"candidates_per_k": (2, 4)}, "candidates_per_k = .* does not fall; give the largest first"),
        ({"share_for_items": Fraction(1)}, "share_for_items = 1 is no proper share; give less than 1"),
        ({"certain_above": 1.0}, "certain_above = 1.0 is no proper share"),
        ({"certain_below": 0.99}, "certain_below = 0.99 is above certain_above = 0.98; swap them"),
        ({"least_share": Fraction(3, 5)}, "least_share = 3/5 is above most_share = 1/2"),
        ({"largest_basis": 15}, "largest_basis = 15 is above largest_group = 14"),
    ],
)
def test_impossible_settings_are_refused(change: dict[str, Any], message: str) -> None:
    """With what was given, and what is allowed."""
    with pytest.raises(BadCall, match=message):
        replace(DEFAULT, **change)


def test_a_lift_may_be_negative() -> None:
    """Items of some data avoid each other."""
    assert replace(DEFAULT, usual_lift=-0.5, lift_of_pairs=-0.1, lift_of_larger=0.0).usual_lift == -0.5


def test_derived_values_follow_their_fields() -> None:
    """None is stored: a changed field changes all that depends on it."""
    assert DEFAULT.most_carriers == 28
    assert replace(DEFAULT, largest_group=13).most_carriers == 26
    assert DEFAULT.noise_of_several_marginals == 6 * noise_of_marginal(8, 3)
    steeper = replace(DEFAULT, marginal_growth=1.0, expected_bases=2)
    assert steeper.noise_of_marginal(8, 3) == noise_of_marginal(8, 3, growth=1.0) > noise_of_marginal(8, 3)
    assert steeper.noise_of_several_marginals == 2 * steeper.noise_of_marginal(8, 3)
    assert steeper.noise_of_pairs_and_marginals != DEFAULT.noise_of_pairs_and_marginals


@pytest.mark.parametrize(("allowed", "size"), [(None, 12), (3, 3), (20, 12)])
def test_itemsets_are_no_larger_than_the_caller_and_the_settings_allow(
    allowed: int | None, size: int
) -> None:
    """The smaller of the two."""
    assert DEFAULT.largest_size(allowed) == size


def test_pairs_have_a_prior_of_their_own() -> None:
    """Nothing is known of pairs before; larger itemsets follow from them."""
    assert DEFAULT.prior_law(2) == (0.7, 1.5)
    assert DEFAULT.prior_law(3) == DEFAULT.prior_law(7) == (0.3, 0.7)
