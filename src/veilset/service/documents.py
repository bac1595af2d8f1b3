"""What was released, as documents: what is stored, what the API answers with, what is downloaded."""

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veilset.errors import BadCall
from veilset.gate import Charge
from veilset.itemsets import Itemsets
from veilset.results.promise import Origin, Promise
from veilset.results.published import Published
from veilset.results.release import Release
from veilset.results.workbooks import workbook_of

if TYPE_CHECKING:
    from collections.abc import Callable

KIND = "kind"
RELEASE_KIND, PUBLISHED_KIND = "release", "published"


def document_of(result: Release | Published) -> dict[str, Any]:
    """A result as JSON values, from which `result_of` makes it again."""
    if isinstance(result, Release):
        return {KIND: RELEASE_KIND, **result.to_dict()}
    return {
        KIND: PUBLISHED_KIND,
        "names": list(result.names),
        "codes": [list(record) for record in result.records],
        "copies": result.multiplicities.tolist(),
        **result.to_dict(),
    }


def result_of(document: dict[str, Any]) -> Release | Published:
    """The result that `document_of` wrote down."""
    if document[KIND] == RELEASE_KIND:
        return Release.from_dict(document)
    import numpy as np  # noqa: PLC0415 - a release needs none

    return Published(
        records=Itemsets.of(document["codes"]),
        multiplicities=np.array(document["copies"], dtype=np.int64),
        names=tuple(document["names"]),
        method=document["method"],
        trace=tuple(Charge.from_dict(row) for row in document["trace"]),
        promise=Promise.from_dict(document["promise"]),
        notes=tuple(document["notes"]),
        version=document["version"],
        origin=Origin.from_dict(document),
    )


def trace_of(document: dict[str, Any]) -> dict[str, Any]:
    """What an auditor reads: questions, prices and the promise; nothing that was answered."""
    names = (
        "kind",
        "method",
        "epsilon",
        "delta",
        "spent",
        "trace",
        "promise",
        "is_private",
        "version",
        "date",
    )
    return {name: document[name] for name in (*names, "request", "ledger")}


MEDIA_TYPES = {
    "json": "application/json",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html",
}
"""What can be downloaded, and what it is for a browser."""


def download(document: dict[str, Any], form: str) -> bytes:
    """A result in one of the forms of `MEDIA_TYPES`."""
    result = result_of(document)
    if isinstance(result, Published):
        return _published_as(result, form)
    makers: dict[str, Callable[[Release], bytes]] = {
        "json": lambda release: release.to_json().encode(),
        "csv": lambda release: _saved(release, ".csv"),
        "parquet": lambda release: _saved(release, ".parquet"),
        "xlsx": workbook_of,
        "html": _report,
    }
    return makers[form](result)


def _published_as(published: Published, form: str) -> bytes:
    if form == "json":
        return json.dumps(published.with_records(), ensure_ascii=False).encode()
    if form == "parquet":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "published.parquet"
            published.write(path)
            return path.read_bytes()
    raise BadCall("a published dataset is downloaded as json or parquet; ask for one of these")


def _saved(release: Release, suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"release{suffix}"
        release.save(path)
        return path.read_bytes()


def _report(release: Release) -> bytes:
    from veilset.render.report import report_html  # noqa: PLC0415 - plotly takes a while to load

    return report_html(release).encode()
