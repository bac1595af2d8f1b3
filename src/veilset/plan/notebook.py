"""A sentence and a table as a notebook shows them."""

from collections.abc import Iterable, Sequence
from html import escape


def notebook_table(sentence: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A paragraph and a table of texts, none of which is read as HTML.

    >>> notebook_table("1 < 2", ["a"], [["b"]])
    '<p>1 &lt; 2</p><table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>'
    """
    heads = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<p>{escape(sentence)}</p><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
