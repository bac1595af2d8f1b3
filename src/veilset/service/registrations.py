"""What an owner says of a dataset: where its data comes from, who is protected, which items may be named.

Data comes from places that the settings of the service name, and from nowhere else: a file or a folder in one of the
folders of data, a query to a database of the settings, a path on a cluster below one of the settings.
"""

import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from veilset.errors import BadCall
from veilset.service.queries import kind_of_address, only_reading
from veilset.service.settings import ServiceSettings
from veilset.wording import shown

ItemRule = Literal["list", "public", "private"]
SourceKind = Literal["file", "folder", "query", "spark"]
UnitName = Literal["transaction", "person"]

FIELDS_OF_SOURCE: dict[SourceKind, tuple[str, ...]] = {
    "file": ("file",),
    "folder": ("file",),
    "query": ("connection", "query"),
    "spark": ("path",),
}
"""What says where the data is, for each kind of source; the others are left empty."""

MOST_LISTED = 2_000_000
"""2,000,000 characters of a list of items."""

_PATH_ON_CLUSTER = re.compile(r"[A-Za-z0-9_./:=+@~*-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What an owner says of a dataset.

    Attributes:
        items: which items may be named: those of a public `list`, those of the data because they are `public` anyway,
            or those that enough persons have, found `private`ly.
        source: what the data is read from.
        file: the name of a file, or of a folder of them, in one of the folders of data.
        connection: the name of a database in the settings.
        query: what is read of it: one SELECT.
        path: where the data is on a cluster.
        same_people_as: other datasets that have people of this one; they pay for its releases, too.
        different_people: the owner's word that its people are in no other dataset.
        alphabet: the public list, a name on each line.
        per_owner: how many transactions of one person count, where persons have several.
        rows: about how many transactions there are, where that is public; for forecasts.
        number_of_items: about how many items there are, where that is public.
        length: about how many items a transaction has, where that is public.
        items_read: how many items the data has, where they are public; known when it was read.
    """

    items: ItemRule
    unit: UnitName
    source: SourceKind = "file"
    file: str = ""
    connection: str = ""
    query: str = ""
    path: str = ""
    same_people_as: tuple[str, ...] = ()
    different_people: bool = False
    title: str = ""
    alphabet: str = ""
    format: str | None = None
    owner: str | None = None
    basket: str | None = None
    item: str | None = None
    separator: str | None = None
    per_owner: int | None = None
    rows: int | None = None
    number_of_items: int | None = None
    length: float | None = None
    items_read: int | None = None

    @classmethod
    def of(cls, told: dict[str, Any]) -> "Registration":
        """What was stored."""
        return cls(**{**told, "same_people_as": tuple(told.get("same_people_as", ()))})

    def to_dict(self) -> dict[str, Any]:
        """The registration as JSON values."""
        return asdict(self) | {"same_people_as": list(self.same_people_as)}

    @property
    def listed(self) -> list[str]:
        """The names of the public list."""
        return list(dict.fromkeys(line for line in self.alphabet.splitlines() if line.strip()))

    @property
    def known_items(self) -> int | None:
        """How many items may be named, exactly, where that is public."""
        return len(self.listed) if self.items == "list" else self.items_read

    @property
    def place(self) -> str:
        """Where the data comes from, in words for its owner."""
        words = {
            "file": f"the file {self.file}",
            "folder": f"the folder {self.file}",
            "query": f"a query to {self.connection}: {self.query}",
            "spark": f"{self.path}, read by Spark",
        }
        return words[self.source]


def checked_registration(told: Registration, settings: ServiceSettings) -> Registration:
    """The same, with its query as it will be run; BadCall where it cannot be meant, or is not allowed."""
    for name, kind in (("items", ItemRule), ("unit", UnitName), ("source", SourceKind)):
        if getattr(told, name) not in get_args(kind):
            raise BadCall(f"{name} is {shown(getattr(told, name))}; give one of {', '.join(get_args(kind))}")
    _check_items(told)
    _check_people(told)
    needed = FIELDS_OF_SOURCE[told.source]
    for name in dict.fromkeys(each for fields in FIELDS_OF_SOURCE.values() for each in fields):
        if bool(getattr(told, name).strip()) != (name in needed):
            raise BadCall(
                f"data from a {told.source} is told by its {' and '.join(needed)}, and nothing else"
            )
    if told.source == "query":
        database = kind_of_address(_address_of(told.connection, settings))
        return replace(told, query=only_reading(told.query, database))
    source_of(told, settings)
    return told


def _check_items(told: Registration) -> None:
    if (told.items == "list") != bool(told.alphabet.strip()):
        raise BadCall("a list of items goes with the rule 'list' and with no other; give both or neither")
    if len(told.alphabet) > MOST_LISTED:
        raise BadCall(f"the list of items is longer than {MOST_LISTED} characters; give a shorter one")


def _check_people(told: Registration) -> None:
    if (told.unit == "person") != bool(told.owner):
        raise BadCall(
            "persons are protected where a column says whose each row is, and only there; name the column of "
            "persons (owner), or protect one transaction"
        )
    if told.per_owner is not None and not told.owner:
        raise BadCall("baskets of one person are counted where a column names persons; name it (owner)")
    if told.same_people_as and told.different_people:
        raise BadCall("these people are in another dataset, or in none; say one of both")


def source_of(told: Registration, settings: ServiceSettings) -> dict[str, Any]:
    """Where a worker reads the data: a source of `veilset.read`, and options that go with it."""
    if told.source == "query":
        return {"source": _address_of(told.connection, settings), "options": {"query": told.query}}
    if told.source == "spark":
        on = {"engine": "spark", "master": settings.spark_master or None}
        return {"source": _path_on_cluster(told.path, settings), "options": on}
    place = _folder_of(told.file, settings) if told.source == "folder" else file_in(told.file, settings)
    return {"source": str(place), "options": {}}


def file_in(name: str, settings: ServiceSettings) -> Path:
    """A file of a folder of data; a name that leads elsewhere is refused."""
    for path, folder in _places_of(name, settings):
        if path.is_file() and path.is_relative_to(folder):
            return path
    raise BadCall("there is no such file in the folders of data; upload it first, or put it there")


def _folder_of(name: str, settings: ServiceSettings) -> Path:
    """A folder in a folder of data, in which nothing leads elsewhere."""
    for path, folder in _places_of(name, settings):
        if path.is_dir() and path != folder and path.is_relative_to(folder):
            if not all(each.resolve().is_relative_to(folder) for each in path.rglob("*")):
                raise BadCall("a file of this folder lies elsewhere; put it there itself, not a link to it")
            return path
    raise BadCall("there is no such folder in the folders of data; put it there first")


def _places_of(name: str, settings: ServiceSettings) -> list[tuple[Path, Path]]:
    if not name or "/" in name or "\\" in name or "\0" in name or name.startswith("."):
        raise BadCall("a file is named without its folder; give the name of one in the folders of data")
    return [((folder / name).resolve(), folder.resolve()) for folder in settings.data_folders]


def _address_of(connection: str, settings: ServiceSettings) -> str:
    if connection not in settings.connections:
        known = ", ".join(sorted(settings.connections)) or "none"
        raise BadCall(
            f"there is no connection {shown(connection)} in the settings of the service; there is: {known}"
        )
    return settings.connections[connection]


def _path_on_cluster(path: str, settings: ServiceSettings) -> str:
    """A path below one of the settings; nothing in it leads up again."""
    is_plain = _PATH_ON_CLUSTER.fullmatch(path) is not None and ".." not in path
    for place in settings.spark_paths:
        below = place.rstrip("/") + "/"
        rest = "/" + path.removeprefix(below)
        if is_plain and path.startswith(below) and "//" not in rest:
            return path
    known = ", ".join(settings.spark_paths) or "none"
    raise BadCall(f"this path is not below one that the settings of the service allow; they are: {known}")


def files_there(settings: ServiceSettings) -> dict[SourceKind, list[str]]:
    """The files and folders that datasets can be made of."""
    found = [path for folder in settings.data_folders for path in folder.glob("[!.]*")]
    return {
        "file": sorted({path.name for path in found if path.is_file()}),
        "folder": sorted({path.name for path in found if path.is_dir()}),
    }
