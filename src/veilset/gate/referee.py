"""OpenDP's privacy maps as a referee: what noise really costs, against what was claimed for it.

A question reckons its scale from a sensitivity and a price. OpenDP knows the way back, by a map that it proves: from
the distance by which one privacy unit moves the counts to the cost of the noise. Where the map says more than was paid,
something here is wrong, and no noise must be drawn.

The map computes in floating point and rounds up, by a few units in the last place: noise of scale 3 costs
epsilon 1/3 + 3.7e-17, it says, because no float is 1/3. `ROUNDING` allows for that, and for nothing else.
"""

import math
from fractions import Fraction
from typing import Any, Protocol

from veilset.errors import NoiseTooSmall

ROUNDING = 1 + Fraction(1, 2**50)
"""Four units in the last place of a float. The map of Laplace noise adds one; that of Gaussian noise, and the root that
it is handed, were seen to add 2.7. Scales of Gaussian noise are rounded up to whole steps, which is far more."""


class OpenDPMeasurement(Protocol):
    """What OpenDP calls noise of a scale that is ready to be drawn."""

    @property
    def map(self) -> Any:  # noqa: ANN401 - opendp has no types
        """From a distance between the counts of neighbours to the cost."""


def check_laplace(measurement: OpenDPMeasurement, *, sensitivity: int, epsilon: Fraction) -> None:
    """Raise NoiseTooSmall where discrete Laplace noise, under the L1 distance, costs more than epsilon.

    `sensitivity` is the L1 distance by which one unit moves all counts together, in the steps of the counts.
    """
    _compare(measurement, sensitivity, "epsilon", epsilon)


def check_gaussian(measurement: OpenDPMeasurement, *, squared_sensitivity: int, rho: Fraction) -> None:
    """Raise NoiseTooSmall where discrete Gaussian noise, under the L2 distance, costs more than rho.

    `squared_sensitivity` is the square of the L2 distance by which one unit moves all counts together, in their steps.
    """
    _compare(measurement, _root_at_least(squared_sensitivity), "rho", rho)


def _compare(measurement: OpenDPMeasurement, distance: float, name: str, paid: Fraction) -> None:
    """Raise where the map says more than was paid, or nothing that can be compared; in exact fractions."""
    cost = float(measurement.map(distance))
    if not math.isfinite(cost) or Fraction(cost) > paid * ROUNDING:
        raise NoiseTooSmall(
            f"noise that was paid for with {name} {paid} would cost {cost}; nothing was drawn: this is a mistake in "
            "veilset, please report it"
        )


def _root_at_least(square: int) -> float:
    """A float that is not below the root of an integer, and next to it.

    >>> _root_at_least(9), Fraction(_root_at_least(2)) ** 2 >= 2
    (3.0, True)
    """
    root = math.sqrt(square)
    return root if Fraction(root) ** 2 >= square else math.nextafter(root, math.inf)
