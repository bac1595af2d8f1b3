"""Several files as one source: a folder, or a pattern such as `sales/*.parquet`."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from veilset.errors import BadInput
from veilset.raw.read.files import STANDARD_INPUT, suffix_of

PATTERN_SIGNS = "*?["


def files_in(source: str | os.PathLike[str], known: Sequence[str]) -> list[Path] | None:
    """The files of a folder or a pattern, in the order of their names; None where this is neither.

    Of a folder, with its subfolders, those are read whose names end as a known format does; names that start with a
    dot or an underscore are marks of other programs. All must be of one kind.
    """
    if source == STANDARD_INPUT:
        return None
    path = Path(source)
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError:
        return None
    if is_folder:
        return _checked_kinds(path, _in_folder(path, known))
    name = os.fspath(source)
    if is_there or not any(sign in name for sign in PATTERN_SIGNS):
        return None
    found = sorted(Path(each) for each in glob.glob(name, recursive=True))  # noqa: PTH207 - a pattern may be absolute
    files = [each for each in found if each.is_file()]
    if not files:
        raise BadInput(f"no file is called like {name}; check the pattern")
    return _checked_kinds(path, files)


def _in_folder(folder: Path, known: Sequence[str]) -> list[Path]:
    found: list[Path] = []
    try:
        for place, folders, names in os.walk(folder, onerror=_unless_forbidden):
            folders[:] = [name for name in folders if not _is_hidden(name)]
            seen = (
                Path(place, name) for name in names if not _is_hidden(name)
            )  # one at a time: there may be many
            found += (each for each in seen if suffix_of(each) in known and each.is_file())
    except OSError as error:
        raise BadInput(f"{folder} cannot be listed: {error.strerror}") from None
    return sorted(found)


def _unless_forbidden(error: OSError) -> None:
    """What nobody may look into is left out; what else cannot be listed is told."""
    if not isinstance(error, PermissionError):
        raise error


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _checked_kinds(source: Path, files: list[Path]) -> list[Path]:
    if not files:
        raise BadInput(f"{source} has no data file; name a folder of .parquet, .csv or .dat files")
    kinds = sorted({suffix_of(each) for each in files})
    if len(kinds) > 1:
        raise BadInput(
            f"{source} has files of several kinds ({', '.join(kinds)}); give a pattern for one of them, such as "
            f"'{(source if source.is_dir() else source.parent) / ('*' + kinds[0])}'"
        )
    return files
