"""What options are checked for before a command runs."""

from pathlib import Path

import pytest

from veilset.cli.options import check_can_write
from veilset.errors import BadCall


def test_whether_a_file_can_be_written_is_tried_and_leaves_nothing_behind(
    fimi_file: Path, tmp_path: Path
) -> None:
    """A new file is not there afterwards, an old one is as it was; in a file, or as a folder, there can be none."""
    before = fimi_file.read_bytes()
    check_can_write(tmp_path / "new.json", suffixes=(".json",))
    check_can_write(fimi_file, replaces=True)
    assert list(tmp_path.iterdir()) == [fimi_file]
    assert fimi_file.read_bytes() == before
    with pytest.raises(BadCall, match="is the data itself"):
        check_can_write(tmp_path / "." / fimi_file.name, data=fimi_file)
    with pytest.raises(BadCall, match="is there already; name another file, or give --force"):
        check_can_write(fimi_file)
    for path in (fimi_file / "new.json", tmp_path / "no" / "new.json", tmp_path):
        with pytest.raises(BadCall, match="cannot be written"):
            check_can_write(path)
