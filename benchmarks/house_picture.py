"""The picture of the rooms and doors: `python -m benchmarks.house_picture` draws docs/house.svg."""

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "house.svg"
WIDTH, HEIGHT = 132, 78
INK, PAPER = "#1b2530", "#fbfbf8"
EXACT, GUARDED, NOISY, OUTSIDE = "#f3c9c2", "#f7e3a8", "#c9e4cf", "#dbe4f0"
"""Rooms that hold exact data, the gate, rooms that see noisy answers only, and rooms that use these."""


@dataclass(frozen=True, slots=True)
class Room:
    """A folder or a few modules: where it is drawn (left, bottom, width, height), and one line for each part."""

    name: str
    place: tuple[float, float, float, float]
    colour: str
    lines: tuple[str, ...]
    wall: float = 1.0


@dataclass(frozen=True, slots=True)
class Door:
    """An arrow between rooms, what passes there, and where that is written."""

    start: tuple[float, float]
    end: tuple[float, float]
    passes: str
    written_at: tuple[float, float]


ROOMS = (
    Room("cli   service", (2, 62, 18, 13), OUTSIDE, ("commands;", "pages, an API")),
    Room(
        "api",
        (26, 62, 76, 13),
        OUTSIDE,
        ("mine, items, publish: each reads the data, opens the gate with a", "budget, and runs one method"),
    ),
    Room("render", (110, 62, 20, 13), OUTSIDE, ("terminal/ tables", "reports in HTML")),
    Room(
        "raw",
        (2, 25, 30, 28),
        EXACT,
        (
            "read/  files to transactions",
            "cuts/  truncate or split them",
            "engines/  exact answers,",
            "               on all cores",
            "kernels/  compiled loops",
        ),
        wall=3.0,
    ),
    Room(
        "gate",
        (43, 25, 29, 28),
        GUARDED,
        (
            "curator  the door for methods",
            "accounting/  charges first",
            "questions/  ask_...: _pay, look,",
            "                  noise, one trace row",
            "selection/  private choices",
        ),
        wall=3.0,
    ),
    Room(
        "methods",
        (84, 25, 18, 28),
        NOISY,
        ("one paper, one", "folder; forecasts", "shared/  what", "papers share", "public_kernels"),
    ),
    Room(
        "results",
        (110, 25, 20, 28),
        NOISY,
        ("release,", "published dataset,", "intervals, rules,", "trace, promise"),
    ),
    Room(
        "exact   evaluate   audit   datasets",
        (2, 3, 50, 13),
        EXACT,
        ("their own doors to raw, for public or made-up data;", "what they show is not private"),
    ),
    Room(
        "plan   forecast",
        (84, 3, 46, 13),
        NOISY,
        ("the error to expect, from public facts;", "no door to the data"),
    ),
)

DOORS = (
    Door((18, 68.5), (26, 68.5), "", (0, 0)),
    Door((29, 62), (29, 53), "reads", (24.5, 57.5)),
    Door((57.5, 62), (57.5, 53), "opens", (62, 57.5)),
    Door((93, 62), (93, 53), "runs", (96.8, 57.5)),
    Door((32, 39), (43, 39), "exact\nanswers,\nonce paid", (37.5, 45.5)),
    Door((84, 44), (72, 44), "question,\nepsilon", (78, 48.5)),
    Door((72, 32), (84, 32), "noisy\nanswer", (78, 36.5)),
    Door((102, 39), (110, 39), "choice", (106, 41.5)),
    Door((120, 53), (120, 62), "release", (125.2, 57.5)),
    Door((17, 25), (17, 16), "exact answers", (24.5, 20.5)),
    Door((93, 16), (93, 25), "asks every method's forecast", (108, 20.5)),
)


def draw_room(axes: Axes, room: Room) -> None:
    """A box with its name in bold and its lines below."""
    left, bottom, width, height = room.place
    style = "round,pad=0,rounding_size=1.2"
    axes.add_patch(
        FancyBboxPatch(
            (left, bottom), width, height, boxstyle=style, facecolor=room.colour, edgecolor=INK, lw=room.wall
        )
    )
    top = bottom + height
    axes.text(left + 1.5, top - 1.6, room.name, fontsize=12, weight="bold", color=INK, va="top")
    for number, line in enumerate(room.lines):
        axes.text(left + 1.5, top - 6 - 3.9 * number, line, fontsize=9.5, color=INK, va="top")


def draw_door(axes: Axes, door: Door) -> None:
    """An arrow with what passes."""
    arrow = FancyArrowPatch(
        door.start, door.end, arrowstyle="-|>", mutation_scale=15, lw=1.6, color=INK, shrinkA=1, shrinkB=1
    )
    axes.add_patch(arrow)
    axes.text(*door.written_at, door.passes, fontsize=9, style="italic", color=INK, ha="center", va="center")


def draw() -> Figure:
    """All rooms and doors, on paper of its own colour: legible on light and dark pages."""
    figure = Figure(figsize=(WIDTH / 11, HEIGHT / 11), facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    axes.axis("off")
    for room in ROOMS:
        draw_room(axes, room)
    for door in DOORS:
        draw_door(axes, door)
    return figure


def write_picture(path: Path) -> None:
    """Write the picture; the same code writes the same file."""
    with mpl.rc_context({"svg.hashsalt": "house"}):
        draw().savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    write_picture(PICTURE)
