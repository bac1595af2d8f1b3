"""OpenDP's privacy maps as a referee: what noise of a scale really costs, against what was claimed for it.

A question reckons its scale from a sensitivity and a price. OpenDP knows the way back, by a map that it proves: from
the distance by which one privacy unit moves the counts to the cost of the noise. Where the map says more than was paid,
something here is wrong, and no noise must be drawn.

The map computes in floating point and rounds up, by a few units in the last place: noise of scale 3 costs
epsilon 1/3 + 3.7e-17, it says, because no float is 1/3. `ROUNDING` allows for that, and for nothing else.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from veilset.errors import NoiseTooSmall

ROUNDING = 1 + Fraction(1, 2**50)
"""Four units in the last place of a float. The map of Laplace noise adds one; that of Gaussian noise, and the root that
it is handed, were seen to add 2.7. Scales of Gaussian noise are rounded up to whole steps, which is far more."""


def check_laplace(scale: float, *, sensitivity: int, epsilon: Fraction) -> None:
    """Raise NoiseTooSmall where discrete Laplace noise costs more than epsilon.

    `scale` is the one that is drawn; `sensitivity` the L1 distance by which one unit moves all counts, both in steps.

    >>> check_laplace(3.0, sensitivity=1, epsilon=Fraction(1, 3))
    """
    _compare(laplace_measurement(scale), sensitivity, "epsilon", epsilon)


def check_gaussian(scale: float, *, squared_sensitivity: int, rho: Fraction) -> None:
    """Raise NoiseTooSmall where discrete Gaussian noise costs more than rho.

    `squared_sensitivity` is the square of the L2 distance by which one unit moves all counts, in steps.

    >>> check_gaussian(2.0, squared_sensitivity=4, rho=Fraction(1, 2))
    """
    _compare(gaussian_measurement(scale), _root_at_least(squared_sensitivity), "rho", rho)


@lru_cache(maxsize=64)
def laplace_measurement(scale: float) -> Any:  # noqa: ANN401 - opendp has no types
    """Discrete Laplace noise on vectors of integers, under the L1 distance and pure differential privacy."""
    # Only when noise is due: a tenth of a second. Its prelude takes a whole one where scikit-learn is installed.
    from opendp.measurements import make_laplace  # noqa: PLC0415
    from opendp.metrics import l1_distance  # noqa: PLC0415

    return make_laplace(_integers(), l1_distance(T="i64"), scale=scale)


@lru_cache(maxsize=64)
def gaussian_measurement(scale: float) -> Any:  # noqa: ANN401
    """Discrete Gaussian noise on the same, under the L2 distance and zero-concentrated differential privacy."""
    from opendp.measurements import make_gaussian  # noqa: PLC0415
    from opendp.metrics import l2_distance  # noqa: PLC0415

    return make_gaussian(_integers(), l2_distance(T=float), scale=scale)


def _integers() -> Any:  # noqa: ANN401
    """Vectors of integers, as OpenDP calls them."""
    from opendp.domains import atom_domain, vector_domain  # noqa: PLC0415
    from opendp.mod import enable_features  # noqa: PLC0415

    enable_features("contrib")
    return vector_domain(atom_domain(T="i64"))


def _compare(measurement: Any, distance: float, name: str, paid: Fraction) -> None:  # noqa: ANN401
    """Raise where the map says more than was paid, or says nothing that can be compared; in exact fractions."""
    cost = float(measurement.map(distance))
    if not math.isfinite(cost) or Fraction(cost) > paid * ROUNDING:
        raise NoiseTooSmall(
            f"noise that was paid for with {name} {paid} would cost {cost}; nothing was drawn: this is a mistake in "
            "veilset, please report it"
        )


def _root_at_least(square: int) -> float:
    """The smallest float that is not below the root of an integer.

    >>> _root_at_least(9), Fraction(_root_at_least(2)) ** 2 >= 2
    (3.0, True)
    """
    root = math.sqrt(square)
    return root if Fraction(root) ** 2 >= square else math.nextafter(root, math.inf)
