"""Mining as an estimator in the manner of scikit-learn, which is not needed: only its conventions are kept.

Every `fit` is a release of its own and costs its own epsilon: a search over parameters that fits ten times costs ten
times as much. Nothing is looked at but through `veilset.mine`.
"""

import inspect
from typing import TYPE_CHECKING, Any, Self

from veilset.api import mine
from veilset.errors import BadCall
from veilset.gate import DatasetAccount, Delta, Epsilon, Noise
from veilset.request import PerOwner, Support
from veilset.results.release import Release

if TYPE_CHECKING:
    import pandas as pd


class PrivateItemsets:
    """Frequent itemsets under differential privacy: `PrivateItemsets(epsilon=1, k=40, public_items=True).fit(X)`.

    Parameters are those of `veilset.mine`. After `fit` there are

    * `release_`: the Release, with intervals, trace and promise;
    * `itemsets_`: its itemsets as a pandas frame: items, support, low, high, frequency.

    Each `fit` costs its epsilon again, so do not search for parameters with it.

    >>> from veilset import SeededNoise
    >>> baskets = [["bread", "milk"]] * 900 + [["beer"]] * 50
    >>> miner = PrivateItemsets(epsilon=1, k=3, public_items=True, noise=SeededNoise(7)).fit(baskets)
    >>> miner.release_
    Release(3 itemsets, epsilon 1, planned, NOT private)
    >>> sorted(miner.itemsets_["items"].iloc[-1])
    ['bread', 'milk']
    """

    release_: Release

    def __init__(  # noqa: PLR0913 - the parameters of `mine`
        self,
        *,
        epsilon: Epsilon | None = None,
        k: int | None = None,
        min_support: Support | None = None,
        method: str | None = None,
        max_size: int | None = None,
        alphabet: Any = None,  # noqa: ANN401 - whatever `mine` takes: a list, or a path
        public_items: bool = False,
        delta: Delta | None = None,
        per_owner: PerOwner | None = None,
        transactions: int | None = None,
        noise: Noise | None = None,
        account: DatasetAccount | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.k = k
        self.min_support = min_support
        self.method = method
        self.max_size = max_size
        self.alphabet = alphabet
        self.public_items = public_items
        self.delta = delta
        self.per_owner = per_owner
        self.transactions = transactions
        self.noise = noise
        self.account = account

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ANN401, N803 - what scikit-learn calls it
        """Make a release of X, which is what `veilset.read` returned or anything that it reads; y is not used."""
        del y
        self.release_ = mine(X, **self.get_params())
        return self

    @property
    def itemsets_(self) -> "pd.DataFrame":
        """The released itemsets in pandas; made when asked for, so that a release is never lost to a missing pandas."""
        return self.release_.to_pandas()

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - as scikit-learn calls it
        """The parameters by their names; none has parameters of its own, so `deep` changes nothing."""
        del deep
        return {name: getattr(self, name) for name in _defaults()}

    def set_params(self, **params: Any) -> Self:  # noqa: ANN401
        """Set some parameters for the next `fit`."""
        for name, value in params.items():
            if name not in _defaults():
                known = ", ".join(_defaults())
                raise BadCall(f"PrivateItemsets has no parameter {name!r}; it has {known}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            (name, value) for name, value in self.get_params().items() if value is not _defaults()[name]
        ]
        return f"PrivateItemsets({', '.join(f'{name}={value!r}' for name, value in changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "release_")

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        """What scikit-learn asks of an estimator; only it calls this."""
        from sklearn.utils import InputTags, Tags, TargetTags  # noqa: PLC0415 - optional

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False, string=True),
            non_deterministic=True,
            no_validation=True,
        )


def _defaults() -> dict[str, Any]:
    """The parameters with their defaults, in order."""
    parameters = inspect.signature(PrivateItemsets.__init__).parameters.values()
    return {each.name: each.default for each in parameters if each.name != "self"}
