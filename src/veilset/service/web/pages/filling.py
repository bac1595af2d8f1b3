"""How pages are filled in: templates that escape whatever they are handed, and what is read from forms."""

from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup

from veilset.errors import BadCall
from veilset.service.web.door import GuardedRoute
from veilset.wording import counted, shown_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from veilset.service.permissions import Principal

Text = Annotated[str, Form(max_length=2_000_000)]

_TEMPLATES = Environment(
    loader=PackageLoader("veilset.service.web"),
    autoescape=select_autoescape(),
    trim_blocks=True,
    lstrip_blocks=True,
)


def _moment_text(seconds: float) -> str:
    """A time as people read it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _moment(seconds: float) -> Markup:
    """The same as a tag; in a narrow column it breaks between date and time only."""
    date, clock, zone = _moment_text(seconds).split(" ")
    form = Markup('<time><span>{}</span> <span>{}</span><span class="wide"> {}</span></time>')
    return form.format(date, clock, zone)


def _entry_moment(text: str) -> Markup:
    """When an entry of the ledger was written."""
    return _moment(datetime.fromisoformat(text).timestamp())


def _share_left(left: str, total: str) -> int:
    """Per cent of a budget that are left."""
    return int(100 * Fraction(left) / Fraction(total)) if Fraction(total) else 0


_TEMPLATES.filters |= {
    "moment": _moment,
    "moment_text": _moment_text,
    "entry_moment": _entry_moment,
    "epsilon": lambda text: f"{float(Fraction(text)):.4g}",
    "item": shown_name,
    "percent": lambda share: f"{share:.1%}",
}
_TEMPLATES.globals |= {"counted": counted, "share_left": _share_left}


def page_router() -> APIRouter:
    """A router for pages."""
    return APIRouter(route_class=GuardedRoute, include_in_schema=False, default_response_class=HTMLResponse)


def shown_page(request: Request, template: str, *, status: int = 200, **texts: Any) -> HTMLResponse:  # noqa: ANN401
    """A template, filled in for whoever asks."""
    who: Principal | None = getattr(request.state, "who", None)
    may: Callable[[str], bool] = (lambda _: False) if who is None else who.may
    filled = _TEMPLATES.get_template(template).render(
        who=who, may=may, path=request.url.path, code=status, **texts
    )
    return HTMLResponse(filled, status)


def problem_page(request: Request, status: int, message: str) -> HTMLResponse:
    """What went wrong, for people."""
    return shown_page(request, "problem.html", status=status, message=message)


def to_page(path: str) -> RedirectResponse:
    """Lead on to another page."""
    return RedirectResponse(path, 303)


def given_fields(**fields: str) -> dict[str, str]:
    """The fields of a form that were filled in."""
    return {name: value.strip() for name, value in fields.items() if value.strip()}


def number_in_form(text: str, what: str) -> float:
    """A number from a field of a form."""
    try:
        return float(Fraction(text.replace(",", "").strip()))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise BadCall(f"{what}: {text[:20]!r} is not a number; give one, or leave it out") from None
