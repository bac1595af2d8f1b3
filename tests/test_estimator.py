"""The estimator keeps the conventions of scikit-learn, and the promise of `mine`."""

import subprocess
import sys

import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

import veilset as vs
from veilset.estimator import PrivateItemsets

BASKETS = [["bread", "milk"]] * 900 + [["beer"]] * 50


def seeded(**more: object) -> PrivateItemsets:
    """An estimator of three itemsets, with noise that can be repeated."""
    return PrivateItemsets(epsilon=1, k=3, public_items=True, noise=vs.SeededNoise(7)).set_params(**more)


def test_it_releases_what_mine_releases() -> None:
    """With the same parameters and the same noise."""
    release = vs.mine(BASKETS, epsilon=1, k=3, public_items=True, noise=vs.SeededNoise(7))
    miner = seeded().fit(BASKETS)
    assert miner.release_.itemsets == release.itemsets
    assert list(miner.itemsets_["support"]) == [found.support for found in release.itemsets]
    assert seeded(k=1).fit(vs.read(BASKETS)).itemsets_.shape[0] == 1


def test_its_parameters_are_those_of_mine() -> None:
    """By name and default; one that is added there is missed here."""
    from inspect import signature  # noqa: PLC0415

    other_names = {"data", "max_len", "public_count"}
    parameters = [each for each in signature(vs.mine).parameters.values() if each.name not in other_names]
    assert PrivateItemsets().get_params() == {each.name: each.default for each in parameters}


def test_a_clone_has_the_parameters_and_no_release() -> None:
    """Also of one that was fitted; a pipeline takes it."""
    fitted = seeded().fit(BASKETS)
    copy = clone(fitted)
    assert copy.get_params()["k"] == 3
    assert not hasattr(copy, "release_")
    with pytest.raises(AttributeError):
        _ = copy.itemsets_
    make_pipeline(copy).fit(BASKETS)
    check_is_fitted(copy)


@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_valid_tag_types",
        "check_no_attributes_set_in_init",
        "check_get_params_invariance",
        "check_set_params",
        "check_parameters_default_constructible",
    ],
)
def test_it_passes_the_checks_of_scikit_learn_that_apply(check: str) -> None:
    """Those of parameters; the others fit arrays of measurements, which are no baskets."""
    getattr(estimator_checks, check)("PrivateItemsets", PrivateItemsets())


def test_a_parameter_that_there_is_not_is_refused_with_those_there_are() -> None:
    """As scikit-learn does."""
    with pytest.raises(vs.BadCall, match="no parameter 'min_supprt'; it has epsilon, k, min_support"):
        PrivateItemsets().set_params(min_supprt=2)


def test_it_has_no_default_epsilon_and_demands_the_choice_of_items() -> None:
    """Nothing is spent by leaving something out."""
    with pytest.raises(vs.BadCall, match="epsilon"):
        PrivateItemsets(k=3, public_items=True).fit(BASKETS)
    with pytest.raises(vs.BadCall, match="which items may be named"):
        PrivateItemsets(k=3, epsilon=1).fit(BASKETS)


def test_it_shows_the_parameters_that_were_given() -> None:
    """And no others."""
    assert repr(PrivateItemsets(epsilon=1, k=3)) == "PrivateItemsets(epsilon=1, k=3)"


def test_scikit_learn_is_not_needed_and_mining_prints_nothing() -> None:
    """In a process of its own, where the only line is the one that the program prints."""
    program = (
        "import sys; import veilset as vs\n"
        f"vs.PrivateItemsets(epsilon=1, k=1, public_items=True).fit({BASKETS!r})\n"
        "print('sklearn' in sys.modules, 'plotly' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("False False\n", "")
