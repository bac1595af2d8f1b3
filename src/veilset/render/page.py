"""What the HTML pages share: one self-contained file each, that loads nothing. The only importer of plotly.

A page is a template beside this module, and data that its script draws. Whoever fills in a text escapes it;
data goes in as JSON, which cannot break out of its element.
"""

import json
from importlib.resources import files
from string import Template
from typing import Any

from plotly.offline import get_plotlyjs


def filled(template: str, *, data: dict[str, Any], **texts: str) -> str:
    """A page out of a template's name, its data and its texts, with the common style and script."""
    return Template(_resource(template)).substitute(
        texts,
        style=_resource("page.css"),
        script=_resource("page.js"),
        plotly=get_plotlyjs(),
        data=_json_in_html(data),
    )


def _resource(name: str) -> str:
    return files("veilset.render").joinpath(name).read_text(encoding="utf-8")


def _json_in_html(value: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
