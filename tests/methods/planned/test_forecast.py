"""The forecast of planned: it follows the settings and spends what the method would."""

from dataclasses import replace
from fractions import Fraction

import pytest

from veilset.forecast import World
from veilset.forecast.curve import popularity, support_curve
from veilset.itemsets import Domain
from veilset.methods.planned.forecast import forecast
from veilset.methods.planned.settings import DEFAULT


def world_of(*, rows: int, items: int, length: float, max_size: int = 12) -> World:
    """Items of falling popularity."""
    shares = popularity(items=items, length=length)
    size = min(max_size, items)
    curve = support_curve(shares, rows=rows, max_size=size)
    return World(rows, shares, Domain(items=range(items), max_size=size), curve)


DENSE, SPARSE = world_of(rows=8000, items=16, length=9.0), world_of(rows=30_000, items=200, length=4.0)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(20)])
@pytest.mark.parametrize("world", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_stages_add_up_to_epsilon(world: World, epsilon: Fraction) -> None:
    """Whatever is decided on the way."""
    stages = forecast(world, 30, epsilon).stages
    assert sum(stage.times * stage.mechanism.epsilon for stage in stages) == epsilon


def test_the_strategy_follows_the_model() -> None:
    """Marginals where few items carry the answer; levels and a refinement where not, which may be marginals."""
    dense, sparse, longer = (
        [stage.name for stage in forecast(world, k, Fraction(1)).stages]
        for world, k in ((DENSE, 30), (SPARSE, 30), (SPARSE, 150))
    )
    assert "choice of items" in dense
    assert "supports, size 1" not in dense
    assert "supports, size 1" in sparse
    assert "marginals" in sparse
    assert "containment, refinement" in longer
    assert "choice of items" not in sparse


def test_settings_decide_as_they_do_in_the_method() -> None:
    """A larger share for the k-th support, and no marginals where they are said to err more."""
    more = replace(DEFAULT, share_for_kth=Fraction(1, 10))
    (kth,) = (
        stage for stage in forecast(SPARSE, 30, Fraction(1), settings=more).stages if "k-th" in stage.name
    )
    assert kth.mechanism.epsilon == Fraction(1, 10)
    never_dense = replace(DEFAULT, cap_over_average=0.001)
    names = [stage.name for stage in forecast(DENSE, 30, Fraction(1), settings=never_dense).stages]
    assert "supports, size 1" in names
    assert "choice of items" not in names
