"""A Release: itemsets with noisy supports, how wrong they can be, what it cost, and what is promised."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from veilset.deferred import Deferred
from veilset.errors import BadCall, BadInput
from veilset.gate import Charge, Curator, Item, NoisyCount
from veilset.results.estimates import Estimates, by_support, consistent
from veilset.results.noise_check import is_mostly_noise
from veilset.results.promise import Origin, Paid, Promise
from veilset.results.rules import rules_frame, thresholds_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
else:
    pl = Deferred("polars")

_NOISE_WARNING = (
    "these itemsets cannot be told from noise: at this epsilon the noise is as large as their supports; "
    "take a larger epsilon or more data, or ask for fewer itemsets"
)


@dataclass(frozen=True, slots=True)
class ReleasedItemset:
    """An itemset with its noisy support and a 95 % interval around it."""

    items: tuple[Item, ...]
    support: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class NumberOfTransactions:
    """How many transactions there are: public, or noisy with a 95 % interval."""

    value: int
    low: int
    high: int
    is_public: bool


@dataclass(frozen=True, slots=True)
class Release(Paid):
    """What may be published: complete in itself, safe to copy, store and show."""

    itemsets: tuple[ReleasedItemset, ...]
    transactions: NumberOfTransactions

    @classmethod
    def of(
        cls,
        curator: Curator,
        estimates: Estimates,
        *,
        method: str,
        number: NoisyCount,
        min_count: int = 0,
        notes: tuple[str, ...] = (),
    ) -> "Release":
        """Finish noisy supports: make them consistent, keep those above a threshold, order and name them."""
        transactions = _number_of_transactions(number)
        itemsets = _finished(curator, estimates, min_count, most=transactions.high)
        largest = itemsets[0].support if itemsets else 0
        return cls(
            itemsets=itemsets,
            transactions=replace(transactions, value=max(transactions.value, largest)),
            method=method,
            trace=curator.budget.charges,
            promise=Promise.of(curator),
            notes=notes,
        )

    def __len__(self) -> int:
        return len(self.itemsets)

    @property
    def is_mostly_noise(self) -> bool:
        """Whether hardly any of the itemsets can be told from noise, by their intervals."""
        return is_mostly_noise(self.itemsets, self.transactions)

    @property
    def noise_warning(self) -> str | None:
        """What whoever sees the release must know of its itemsets; None where they say something."""
        return _NOISE_WARNING if self.is_mostly_noise else None

    def to_frame(self) -> "pl.DataFrame":
        """The itemsets as a Polars frame: items, support, low, high, frequency."""
        total = self.transactions.value
        rows = [
            (list(each.items), each.support, each.low, each.high, each.support / total if total else None)
            for each in self.itemsets
        ]
        counts = dict.fromkeys(("support", "low", "high"), pl.Int64())
        schema = {"items": pl.List(self._item_type()), **counts, "frequency": pl.Float64()}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_pandas(self) -> "pd.DataFrame":
        """The same frame in pandas; items are frozensets."""
        try:
            import pandas as pd  # noqa: PLC0415 - optional
        except ImportError:
            raise BadCall("to_pandas needs pandas; install it with: pip install 'veilset[pandas]'") from None
        columns = self.to_frame().to_dict(as_series=False)
        return pd.DataFrame({**columns, "items": [frozenset(items) for items in columns["items"]]})

    def rules(
        self,
        *,
        metric: str = "confidence",
        min_threshold: float | None = None,
        min_confidence: float | None = None,
        surely: bool = False,
    ) -> "pl.DataFrame":
        """Association rules from the released supports alone, so at no further cost.

        Columns are named as in mlxtend: antecedents, consequents, antecedent support, consequent support,
        support, confidence, lift, leverage, conviction, zhangs_metric. Behind them stand both ends of the 95 % interval
        of each measure: support_low, support_high, confidence_low and so on. A rule shows only where the supports of
        both its sides were released.

        `metric` and `min_threshold` choose rules as in mlxtend; without a threshold, those with a confidence of 0.5,
        or those that hold more often than by chance. `min_confidence` may be given beside or instead. With `surely`,
        not the measure but the low end of its interval must reach the threshold.
        """
        return rules_frame(
            {frozenset(found.items): (found.support, found.low, found.high) for found in self.itemsets},
            transactions=(self.transactions.value, self.transactions.low, self.transactions.high),
            thresholds=thresholds_of(metric, min_threshold, min_confidence),
            surely=surely,
            item=self._item_type(),
        )

    def to_dict(self) -> dict[str, Any]:
        """The release as JSON values: the document that `veilset mine --json` prints."""
        frequencies = self.to_frame()["frequency"].to_list()
        itemsets = [
            {**asdict(found), "items": list(found.items), "frequency": frequency}
            for found, frequency in zip(self.itemsets, frequencies, strict=True)
        ]
        return {"itemsets": itemsets, **self._about()}

    def _about(self) -> dict[str, Any]:
        """Everything but the itemsets."""
        return {
            "transactions": asdict(self.transactions),
            "is_mostly_noise": self.is_mostly_noise,
            **self.account(),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Release":
        """The release that `to_dict` wrote."""
        return cls(
            itemsets=tuple(
                ReleasedItemset(tuple(row["items"]), row["support"], row["low"], row["high"])
                for row in values["itemsets"]
            ),
            transactions=NumberOfTransactions(**values["transactions"]),
            method=values["method"],
            trace=tuple(Charge.from_dict(row) for row in values["trace"]),
            promise=Promise.from_dict(values["promise"]),
            notes=tuple(values["notes"]),
            version=values["version"],
            origin=Origin.from_dict(values),
        )

    def to_json(self) -> str:
        """The release as one JSON document."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    def save(self, path: str | Path) -> None:
        """Write `.json`, `.parquet`, or `.csv` with everything but the itemsets in `NAME.csv.json`."""
        path = Path(path)
        if path.suffix == ".json":
            path.write_text(self.to_json() + "\n", encoding="utf-8")
        elif path.suffix == ".parquet":
            self.to_frame().write_parquet(path, metadata={"veilset": json.dumps(self._about())})
        elif path.suffix == ".csv":
            as_json = pl.col("items").map_elements(_item_list_to_json, return_dtype=pl.String)
            self.to_frame().with_columns(as_json).write_csv(path)
            about = json.dumps(self._about(), ensure_ascii=False, indent=1)
            _beside(path).write_text(about + "\n", encoding="utf-8")
        else:
            raise BadCall(f"cannot write a release to {path.name!r}; name it .json, .csv or .parquet")

    @classmethod
    def load(cls, path: str | Path) -> "Release":
        """Read back what `save` wrote."""
        path = Path(path)
        if not path.exists():
            raise BadInput(f"there is no file {path}; name a release that was made with --out or save()")
        if path.suffix == ".csv" and not _beside(path).exists():
            raise BadInput(
                f"{path} is not a release that veilset wrote, or lacks its other half, {_beside(path).name}; "
                "put both in one folder"
            )
        try:
            return cls.from_dict(_read_document(path))
        except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
            raise BadInput(
                f"{path} is not a release that veilset wrote ({type(error).__name__}); "
                "give a .json, .parquet or .csv file made with --out or save()"
            ) from None

    def _item_type(self) -> "pl.DataType":
        items = [item for found in self.itemsets for item in found.items]
        if any(isinstance(item, str) for item in items):
            return pl.String()
        return pl.UInt64() if any(int(item) >= 2**63 for item in items) else pl.Int64()


def _finished(
    curator: Curator, estimates: Estimates, min_count: int, *, most: int
) -> tuple[ReleasedItemset, ...]:
    """Consistent supports in the order of a release; an interval is widened where consistency left it.

    No support is above the most transactions that there may be.
    """
    itemsets = estimates.itemsets
    values = np.minimum(consistent(itemsets, estimates.supports), most)
    low = np.minimum(np.maximum(estimates.low, 0), values)
    high = np.clip(estimates.high, values, most)
    codes = list(itemsets)
    return tuple(
        ReleasedItemset(curator.names(codes[i]), int(values[i]), int(low[i]), int(high[i]))
        for i in by_support(itemsets, values)
        if values[i] >= min_count
    )


def _number_of_transactions(number: NoisyCount) -> NumberOfTransactions:
    """The number of transactions, with its 95 % interval."""
    half_width = 0 if number.mechanism is None else number.mechanism.half_width()
    value = max(number.value, 0)
    low, high = max(number.value - half_width, 0), max(number.value + half_width, 0)
    return NumberOfTransactions(value, low, high, is_public=number.mechanism is None)


def _read_document(path: Path) -> dict[str, Any]:
    """The JSON document of a release, whatever it is stored as."""
    document: dict[str, Any]
    if path.suffix == ".parquet":
        document = json.loads(pl.read_parquet_metadata(path)["veilset"])
        frame = pl.read_parquet(path)
    elif path.suffix == ".csv":
        document = json.loads(_beside(path).read_text(encoding="utf-8"))
        columns = dict.fromkeys(("support", "low", "high"), pl.Int64())
        frame = pl.read_csv(path, schema_overrides={"items": pl.String(), **columns})
    else:
        document = json.loads(path.read_text(encoding="utf-8"))
        return document
    rows = frame.to_dicts()
    if path.suffix == ".csv":
        rows = [{**row, "items": json.loads(row["items"])} for row in rows]
    return {**document, "itemsets": rows}


def _item_list_to_json(items: "pl.Series") -> str:
    return json.dumps(items.to_list(), ensure_ascii=False)


def _beside(path: Path) -> Path:
    """Where the rest of a release stands that is stored as CSV."""
    return path.with_name(path.name + ".json")
