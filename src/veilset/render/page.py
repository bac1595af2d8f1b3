"""What the HTML pages share: one self-contained file each, that loads nothing. Plotly comes in here and in `plots`.

A page is a template beside this module, and data that its script draws. Whoever fills in a text escapes it;
data goes in as JSON, which cannot break out of its element.
"""

import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from plotly.offline import get_plotlyjs


def filled_page(template: str, *, title: str, data: dict[str, Any], **texts: str) -> str:
    """A page out of a template's name, its title, data and texts, with the common head and script."""
    return Template(_resource(template)).substitute(
        texts,
        title=title,
        head=Template(_resource("head.html")).substitute(title=title, style=_resource("page.css")),
        script=_resource("page.js"),
        plotly=get_plotlyjs(),
        data=_json_in_html(data),
    )


def definitions(facts: Iterable[tuple[str, str]]) -> str:
    """Names and what they stand for, as the rows of a definition list."""
    return "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(fact)}</dd>" for name, fact in facts)


def _resource(name: str) -> str:
    return files("veilset.render").joinpath(name).read_text(encoding="utf-8")


def _json_in_html(value: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
