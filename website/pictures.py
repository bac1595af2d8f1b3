"""Two pictures of the whole, for the owner of data and for the engineer: `python -m website.pictures` draws them.

Each is written twice, for light and for dark pages, as text and shapes alone: no font, no script, no library.
"""

from dataclasses import dataclass
from html import escape
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
LINE = 19
"""19 units from one line of text to the next."""


@dataclass(frozen=True, slots=True)
class Colours:
    """Ink, paper, and what fills rooms: exact data, the gate, noisy answers, what is public."""

    ink: str
    faint: str
    paper: str
    exact: str
    gate: str
    noisy: str
    public: str


LIGHT = Colours("#1b2530", "#5b6672", "#ffffff", "#f6d5cf", "#f8e8b8", "#d3ead8", "#dfe8f4")
DARK = Colours("#e8ecf1", "#a7b0bb", "#0e1217", "#5c2f29", "#554719", "#224a2f", "#26374f")


@dataclass(frozen=True, slots=True)
class Room:
    """A rectangle (left, top, width, height) with a title and lines; thick walls carry the privacy argument."""

    place: tuple[int, int, int, int]
    fill: str
    title: str
    lines: tuple[str, ...] = ()
    is_walled: bool = False


@dataclass(frozen=True, slots=True)
class Arrow:
    """A path through points, with what passes along it written beside a point; dashed where nothing may pass."""

    points: tuple[tuple[int, int], ...]
    text: tuple[str, ...] = ()
    at: tuple[int, int] = (0, 0)
    anchor: str = "start"


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing: its size, what it is called, rooms and arrows."""

    name: str
    size: tuple[int, int]
    title: str
    rooms: tuple[Room, ...]
    arrows: tuple[Arrow, ...]


OWNER = Picture(
    "owner",
    (460, 690),
    "What happens to your data: it stays with you; what is published was paid for with epsilon and carries noise",
    (
        Room(
            (30, 14, 400, 106),
            "exact",
            "Your data",
            ("one set of items for each person:", "a file, a table, a database", "stays on your machine"),
        ),
        Room(
            (30, 176, 400, 124),
            "gate",
            "The gate",
            (
                "charges the budget first,",
                "then looks, then adds noise,",
                "and writes down what it did",
                "methods never see your data",
            ),
            is_walled=True,
        ),
        Room(
            (30, 356, 185, 126),
            "public",
            "The ledger",
            ("epsilon you allowed", "epsilon that is spent", "stops whoever", "would spend more"),
        ),
        Room(
            (245, 356, 185, 126),
            "noisy",
            "A method",
            ("asks what is worth", "its price, puts the", "noisy answers", "together"),
        ),
        Room(
            (30, 536, 400, 134),
            "public",
            "The release: may be published",
            (
                "itemsets with 95 % intervals, or a dataset",
                "the trace: every question and its price",
                "the promise, in words",
                "rules and plots of it cost nothing more",
            ),
        ),
    ),
    (
        Arrow(((230, 120), (230, 176)), ("exact counts, inside only",), (242, 152)),
        Arrow(((122, 300), (122, 356)), ("reserves first",), (130, 334)),
        Arrow(((300, 356), (300, 300)), ("asks",), (292, 334), "end"),
        Arrow(((378, 300), (378, 356)), ("noisy",), (370, 334), "end"),
        Arrow(((338, 482), (338, 536)), ("noisy values only",), (330, 511), "end"),
    ),
)

ENGINEER = Picture(
    "engineer",
    (980, 626),
    "Rooms and doors: raw data, the gate with budget and ledger, methods, results, and what stands outside",
    (
        Room(
            (20, 110, 250, 250),
            "exact",
            "raw/",
            (
                "read/     files, SQL, Spark",
                "cuts/     truncate, split, limit",
                "engines/  exact answers:",
                "          local, or a cluster",
                "kernels/  compiled counting",
                "",
                "exact answers stay inside",
            ),
            is_walled=True,
        ),
        Room(
            (340, 110, 300, 250),
            "gate",
            "gate/",
            (
                "curator      the one door",
                "questions/   ask_...: _pay, look, noise",
                "accounting/  Budget, samples, chains",
                "draws        every random decision",
                "selection/   private choices",
                "referee      is it enough noise?",
                "trace        one row a question",
            ),
            is_walled=True,
        ),
        Room(
            (730, 110, 230, 250),
            "noisy",
            "methods/",
            (
                "planned, the papers",
                "never import raw",
                "shared/: marginals, shrinkage",
                "",
                "choose what to ask next",
                "from noisy answers and",
                "public numbers alone",
            ),
        ),
        Room(
            (340, 440, 300, 106),
            "public",
            "ledger (SQLite, PostgreSQL)",
            ("reserve before the engine is", "handed out; settle afterwards", "rows are never changed"),
        ),
        Room(
            (730, 440, 230, 106),
            "noisy",
            "results/",
            ("Release, Published, Promise", "estimates, rules", "JSON, Parquet, HTML"),
        ),
        Room(
            (20, 20, 940, 48),
            "public",
            "api, cli, service: opening.py decides who is protected, what may be named, and how much may be spent",
        ),
        Room(
            (20, 440, 250, 106),
            "exact",
            "for public or made-up data",
            ("exact, evaluate, audit,", "datasets: not private,", "and they say so"),
        ),
        Room(
            (20, 568, 940, 40),
            "public",
            "import-linter keeps the doors: who is not named in a contract cannot import raw/ or the inside of gate/",
        ),
    ),
    (
        Arrow(((270, 200), (340, 200)), ("exact",), (305, 192), "middle"),
        Arrow(((340, 270), (270, 270)), ("looks",), (305, 290), "middle"),
        Arrow(((730, 180), (640, 180)), ("ask_...(ε)",), (685, 172), "middle"),
        Arrow(((640, 250), (730, 250)), ("noisy answer",), (685, 270), "middle"),
        Arrow(((430, 360), (430, 440)), ("reserve",), (438, 406)),
        Arrow(((560, 360), (560, 440)), ("settle",), (568, 406)),
        Arrow(((845, 360), (845, 440)), ("estimates",), (853, 406)),
        Arrow(((145, 440), (145, 360)), ("looks freely",), (153, 406)),
        Arrow(((145, 68), (145, 110)), ("reads",), (153, 94)),
        Arrow(((490, 68), (490, 110)), ("opens, with a budget",), (498, 94)),
        Arrow(((845, 68), (845, 110)), ("runs",), (853, 94)),
    ),
)


def drawn(picture: Picture, colours: Colours) -> str:
    """A picture as SVG."""
    width, height = picture.size
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="system-ui, sans-serif" font-size="14" role="img">'
        ),
        f"<title>{escape(picture.title)}</title>",
        (
            f'<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
            f'orient="auto"><path d="M0 0 10 5 0 10z" fill="{colours.ink}"/></marker></defs>'
        ),
        f'<rect width="{width}" height="{height}" rx="12" fill="{colours.paper}"/>',
        *(_room(room, colours) for room in picture.rooms),
        *(_arrow(arrow, colours) for arrow in picture.arrows),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _room(room: Room, colours: Colours) -> str:
    left, top, width, height = room.place
    wall = 3.5 if room.is_walled else 1.2
    shapes = [
        (
            f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="9" fill="{getattr(colours, room.fill)}" '
            f'stroke="{colours.ink}" stroke-width="{wall}"/>'
        ),
        _text(room.title, left + 14, top + 27, colours.ink, 'font-weight="700"'),
    ]
    for number, line in enumerate(room.lines):
        first, _, rest = line.partition("  ")
        place = top + 51 + number * LINE
        if rest and first.strip():
            shapes.append(_text(first, left + 14, place, colours.ink, 'font-weight="600" font-size="13"'))
            shapes.append(_text(rest.strip(), left + 104, place, colours.ink, 'font-size="13"'))
        else:
            shift = 90 if line.startswith("  ") else 0
            shapes.append(_text(line.strip(), left + 14 + shift, place, colours.ink, 'font-size="13"'))
    return "\n".join(shapes)


def _arrow(arrow: Arrow, colours: Colours) -> str:
    path = " ".join(f"{x} {y}" for x, y in arrow.points)
    line = (
        f'<path d="M{path}" fill="none" stroke="{colours.ink}" stroke-width="1.6" marker-end="url(#head)"/>'
    )
    x, y = arrow.at
    texts = [
        _text(text, x, y + number * 15, colours.faint, f'font-size="12" text-anchor="{arrow.anchor}"')
        for number, text in enumerate(arrow.text)
    ]
    return "\n".join([line, *texts])


def _text(text: str, x: int, y: int, colour: str, more: str) -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" {more}>{escape(text)}</text>' if text else ""


def pictures() -> dict[Path, str]:
    """All files, by path."""
    return {
        FOLDER / f"{picture.name}-{name}.svg": drawn(picture, colours)
        for picture in (OWNER, ENGINEER)
        for name, colours in (("light", LIGHT), ("dark", DARK))
    }


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for path, text in pictures().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
