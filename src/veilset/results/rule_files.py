"""Association rules in files and as JSON values."""

import json
import math
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from veilset.errors import BadCall
from veilset.writing import write_whole

RULE_FILES = (".json", ".csv", ".parquet")
"""What rules can be written to."""


def rules_to_json(rules: pl.DataFrame) -> list[dict[str, Any]]:
    """The rules as JSON values; what has no end, as the conviction of a rule that always holds, is null."""
    return [{name: _finite(value) for name, value in rule.items()} for rule in rules.iter_rows(named=True)]


def save_rules(rules: pl.DataFrame, path: str | Path) -> None:
    """Write `.json`, `.parquet`, or `.csv`, where both sides of a rule are JSON lists."""
    path = Path(path)
    if path.suffix == ".json":
        text = json.dumps(rules_to_json(rules), ensure_ascii=False, indent=1)
        write_whole(path, text + "\n")
    elif path.suffix == ".parquet":
        held = BytesIO()
        rules.write_parquet(held)
        write_whole(path, held.getvalue())
    elif path.suffix == ".csv":
        as_json = pl.col("antecedents", "consequents").map_elements(_side_to_json, return_dtype=pl.String)
        write_whole(path, rules.with_columns(as_json).write_csv())
    else:
        raise BadCall(f"cannot write rules to {path.name!r}; name it {', '.join(RULE_FILES)}")


def _side_to_json(items: pl.Series) -> str:
    return json.dumps(items.to_list(), ensure_ascii=False)


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
