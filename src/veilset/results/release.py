"""A Release: itemsets with noisy supports, how wrong they can be, what it cost, and what is promised."""

import json
from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from veilset.arguments import a_path, truth
from veilset.arrow_arrays import whole_parquet
from veilset.deferred import Deferred
from veilset.errors import BadCall, BadInput
from veilset.gate import Charge, Curator, Item, NoisyCount
from veilset.results.estimates import Estimates, by_support, consistent
from veilset.results.html import MOST_SHOWN, Badge, ShownRow, result_html
from veilset.results.noise_check import is_mostly_noise
from veilset.results.pandas_shapes import import_pandas, mlxtend_frame
from veilset.results.promise import Origin, Paid, Promise, as_sentence
from veilset.results.rules import rules_frame, thresholds_of
from veilset.results.views import view
from veilset.results.workbooks import itemset_in_words, workbook_of
from veilset.wording import counted
from veilset.writing import atomically, write_whole

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
else:
    pl = Deferred("polars")

_NOISE_WARNING = (
    "these itemsets cannot be told from noise: at this epsilon the noise is as large as their supports; "
    "take a larger epsilon or more data, or ask for fewer itemsets"
)

RELEASE_FILES = (".json", ".csv", ".parquet", ".xlsx")
"""What a release can be written to."""

NOTHING_RELEASED = (
    "No itemset was released: none could be told to be frequent at this epsilon, or none is. A larger epsilon, more "
    "data or a lower threshold may show some."
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

    def __repr__(self) -> str:
        noise = ["mostly noise"] if self.is_mostly_noise else []
        return self._repr_with(counted(len(self), "itemset", separator=","), *noise)

    def _repr_html_(self) -> str:
        """What a notebook shows: the most frequent itemsets with their intervals, the standing, the cost."""
        noise = [Badge("mostly noise", "bad")] if self.is_mostly_noise else []
        columns = ("support", "95 % interval", "share")
        rows = [self._shown(found) for found in self.itemsets[:MOST_SHOWN]]
        return result_html(self._summary(), [self.badge(), *noise], columns, rows, self._lines())

    def _summary(self) -> str:
        number = counted(self.transactions.value, "transaction", separator=",")
        about = "" if self.transactions.is_public else "about "
        return f"{counted(len(self), 'itemset', separator=',')} out of {about}{number}"

    def _lines(self) -> Iterator[str]:
        """What stands below the table."""
        if len(self) > MOST_SHOWN:
            yield f"… and {len(self) - MOST_SHOWN:,} more: to_frame() has all of them."
        if not self.itemsets:
            yield from (NOTHING_RELEASED, *map(as_sentence, self.notes))
        if self.noise_warning is not None:
            yield as_sentence(self.noise_warning)
        yield from self.cost_lines()

    def _shown(self, found: ReleasedItemset) -> ShownRow:
        share = found.support / self.transactions.value if self.transactions.value else 0.0
        texts = (f"{found.support:,}", f"{found.low:,} – {found.high:,}", f"{share:.1%}")
        return ShownRow(found.items, found.support, texts, found.low, found.high)

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
        rows = [
            (list(each.items), each.support, each.low, each.high, self._frequency(each))
            for each in self.itemsets
        ]
        counts = dict.fromkeys(("support", "low", "high"), pl.Int64())
        schema = {"items": pl.List(self._item_type()), **counts, "frequency": pl.Float64()}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _frequency(self, found: ReleasedItemset) -> float | None:
        """The share of the transactions that hold an itemset; None where there are none."""
        return found.support / self.transactions.value if self.transactions.value else None

    def to_pandas(self) -> "pd.DataFrame":
        """The same frame in pandas; items are frozensets."""
        pandas = import_pandas("to_pandas")
        columns = self.to_frame().to_dict(as_series=False)
        frame: pd.DataFrame = pandas.DataFrame(
            {**columns, "items": [frozenset(items) for items in columns["items"]]}
        )
        return frame

    def to_mlxtend(self, *, complete: bool = True) -> "pd.DataFrame":
        """The itemsets as mlxtend's `apriori` returns them: `support` as a share, `itemsets` as frozensets.

        mlxtend's `association_rules` looks up every subset of an itemset and fails where one is missing, as it may be
        in a release. So an itemset with a subset that was not released is left out, unless `complete` is False; one of
        support 0 always is. `rules` needs no such care, and gives intervals.
        """
        frame = self.to_frame().filter(pl.col("support") > 0)
        shares = dict(zip(map(frozenset, frame["items"]), frame["frequency"], strict=True))
        if truth(complete, "complete"):
            shares = {items: share for items, share in shares.items() if _has_all_subsets(items, shares)}
        return mlxtend_frame((tuple(items), share) for items, share in shares.items())

    def plot(self, kind: str = "intervals", *, measure: str = "support") -> Any:  # noqa: ANN401 - plotly has no types
        """A Plotly figure of the release; a notebook shows it.

        Args:
            kind: "intervals": the most frequent itemsets with their 95 % intervals. "network": items as dots, released
                pairs as lines. "heatmap": released pairs as a matrix.
            measure: what a heatmap shows of a pair: "support", or "lift": how many times more often both come together
                than by chance.
        """
        return view("plot")(self, kind, measure=measure)

    def report(self, path: str | Path) -> None:
        """Write all of it as one HTML page that works offline, as `veilset mine --report` does."""
        with atomically(Path(a_path(path, "the path of the page"))) as part:
            view("report")(self, part)

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
            surely=truth(surely, "surely"),
            item=self._item_type(),
        )

    def to_dict(self) -> dict[str, Any]:
        """The release as JSON values: the document that `veilset mine --json` prints."""
        itemsets = [
            {**asdict(found), "items": list(found.items), "frequency": self._frequency(found)}
            for found in self.itemsets
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
        """Write `.json`, `.parquet`, or `.csv` with everything but the itemsets in `NAME.csv.json`.

        `.xlsx` is for people: `load` does not read it back.
        """
        path = Path(a_path(path, "the path of the release"))
        if path.suffix == ".json":
            write_whole(path, self.to_json() + "\n")
        elif path.suffix == ".parquet":
            held = BytesIO()
            self.to_frame().write_parquet(held, metadata={"veilset": json.dumps(self._about())})
            write_whole(path, held.getvalue())
        elif path.suffix == ".csv":
            self._save_csv(path)
        elif path.suffix == ".xlsx":
            write_whole(path, workbook_of(self))
        else:
            raise BadCall(f"cannot write a release to {path.name!r}; name it .json, .csv, .parquet or .xlsx")

    def _save_csv(self, path: Path) -> None:
        """Both halves are written before either takes its place. Itemsets stand in it twice: to read, and to load."""
        frame = self.to_frame()
        in_words = pl.Series("itemset", map(itemset_in_words, frame["items"]), dtype=pl.String())
        as_json = pl.Series("items", map(_item_list_to_json, frame["items"]), dtype=pl.String())
        table = frame.select(in_words, pl.all().exclude("items"), as_json).write_csv()
        about = json.dumps(self._about(), ensure_ascii=False, indent=1)
        with atomically(path) as part, atomically(_beside(path)) as other_half:
            part.write_bytes(table.encode())
            other_half.write_bytes(f"{about}\n".encode())

    @classmethod
    def load(cls, path: str | Path) -> "Release":
        """Read back what `save` wrote."""
        path = Path(a_path(path, "the path of the release"))
        if not path.exists():
            raise BadInput(f"there is no file {path}; name a release that was made with --out or save()")
        if path.suffix == ".xlsx":
            raise BadInput(
                f"{path} is a workbook, which is for people; give the .json, .parquet or .csv file of the release"
            )
        if path.suffix == ".csv" and not _beside(path).exists():
            raise BadInput(
                f"{path} is not a release that veilset wrote, or lacks its other half, {_beside(path).name}; "
                "put both in one folder"
            )
        try:
            return cls.from_dict(_read_document(path))
        except (*_DAMAGES, pl.exceptions.PolarsError) as error:
            raise BadInput(
                f"{path} is not a release that veilset wrote ({type(error).__name__}); "
                "give a .json, .parquet or .csv file made with --out or save()"
            ) from None

    def _item_type(self) -> "pl.DataType":
        items = [item for found in self.itemsets for item in found.items]
        if any(isinstance(item, str) for item in items):
            return pl.String()
        return pl.UInt64() if any(int(item) >= 2**63 for item in items) else pl.Int64()


def _has_all_subsets(items: frozenset[Item], released: Container[frozenset[Item]]) -> bool:
    """Whether all subsets of an itemset but the empty one were released."""
    return all(
        frozenset(part) in released for size in range(1, len(items)) for part in combinations(items, size)
    )


def files_of_release(path: Path) -> tuple[Path, ...]:
    """All that `Release.save` writes for a path."""
    return (path, _beside(path)) if path.suffix == ".csv" else (path,)


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


_DAMAGES = (OSError, ValueError, KeyError, TypeError, RecursionError, pa.ArrowException)
"""What comes of reading a file that is no release, or is one no more."""


def _read_document(path: Path) -> dict[str, Any]:
    """The JSON document of a release, whatever it is stored as."""
    document: dict[str, Any]
    if path.suffix == ".parquet":
        table = whole_parquet(path)
        document = json.loads(table.schema.metadata[b"veilset"])
        frame = pl.DataFrame(table.replace_schema_metadata(None))
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
