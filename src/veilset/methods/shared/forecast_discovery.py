"""What finding the items privately leaves for a method, in a model of the data: its own decisions, without their noise.

Approximated: an item of at least the support that naming reaches is named, one below it is not. What the weights of the
named items tell a method is left out, so a forecast is somewhat cautious.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.forecast import Forecast, Stage, World
from veilset.forecast.curve import support_curve
from veilset.forecast.model import model_lengths
from veilset.gate import DiscreteLaplace, NoisyHistogram, naming_mechanism
from veilset.itemsets import Domain
from veilset.methods.shared.discovery import (
    LENGTH_CLASSES,
    SHARE_FOR_LENGTHS,
    SHARE_FOR_SUPPORT,
    SHARE_OF_DELTA,
    choose_naming,
)


@dataclass(frozen=True, slots=True, eq=False)
class DiscoveryForecast:
    """The world of the named items, the questions that named them, what remains of epsilon, and what is lost.

    `covered` is the share of the k most frequent itemsets all of whose items are named.
    """

    world: World
    stages: tuple[Stage, ...]
    remaining: Fraction
    covered: float

    def after(self, forecast: Forecast) -> Forecast:
        """The forecast of a method in that world, with what came before it."""
        stages = (*self.stages, *forecast.stages)
        return replace(forecast, stages=stages, found=forecast.found * self.covered)


def forecast_discovery(world: World, k: int, *, epsilon: Fraction, delta: Fraction) -> DiscoveryForecast:
    """Follow the questions of `find_items` in a model of the data."""
    lengths = DiscreteLaplace(1, epsilon * SHARE_FOR_LENGTHS)
    kth = DiscreteLaplace(1, epsilon * SHARE_FOR_SUPPORT)
    support, delta = world.curve.at_rank(k), delta * SHARE_OF_DELTA
    histogram = NoisyHistogram(_in_classes(world), lengths)
    naming = choose_naming(histogram, support, epsilon=epsilon, delta=delta, transactions=1)
    mechanism = naming_mechanism(
        naming.law, transactions=1, longest=naming.longest, epsilon=epsilon * naming.share, delta=delta
    )
    named = restricted_world(world, least=min(naming.reach, world.rows * float(world.shares[0])))
    number = float(named.curve.among_first(k)[named.curve.supports >= support].sum())
    return DiscoveryForecast(
        named,
        (
            Stage("lengths of transactions", lengths),
            Stage("support of the k-th itemset", kth),
            Stage("items", mechanism),
        ),
        epsilon - lengths.epsilon - kth.epsilon - mechanism.epsilon,
        min(1.0, number / k),
    )


def restricted_world(world: World, *, least: float) -> World:
    """The same transactions with no other items than those of some support."""
    shares = world.shares[world.rows * world.shares >= least]
    largest = min(world.domain.max_size, shares.size)
    domain = Domain(items=range(shares.size), max_size=largest, min_size=world.domain.min_size)
    curve = support_curve(shares, rows=world.rows, max_size=largest)
    return replace(world, shares=shares, domain=domain, curve=curve, asked=None)


def _in_classes(world: World) -> Int64Array:
    """How many transactions of the model have a length of each class."""
    numbers = model_lengths(world, world.shares.size, epsilon=Fraction(1)).values
    classes = np.searchsorted(LENGTH_CLASSES, np.arange(numbers.size), side="right") - 1
    return np.bincount(classes, numbers, minlength=len(LENGTH_CLASSES)).astype(np.int64)
