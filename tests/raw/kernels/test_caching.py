"""A change in a kernel reaches all kernels that call it, from one process to the next."""

import errno
import importlib
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from thorough import THOROUGH
from veilset import kernel_folder
from veilset.raw.kernels.caching import KernelFile

OURS = "from veilset.raw.kernels import kernel"
PLAIN = "import numba; kernel = numba.njit(cache=True, nogil=True)"

only_if_thorough = pytest.mark.skipif(
    not THOROUGH, reason="what numba's own cache does changes with numba alone: make test-thorough"
)

CALLED = """{decorator}


@kernel
def step(value):
    return value + {step}
"""
CALLER = """{decorator}

from called import step


@kernel
def twice(value):
    return step(step(value))
"""
ASK = "from caller import twice; answer = twice(10); print(answer, sum(twice.stats.cache_hits.values()))"


def write(path: Path, text: str) -> None:
    """Write a file as of one and the same second, so that only its content tells a change."""
    path.write_text(text, encoding="utf-8")
    os.utime(path, (1_700_000_000, 1_700_000_000))


def write_kernels(folder: Path, decorator: str, *, step: int) -> None:
    """Two files: a kernel, and a kernel that calls it."""
    folder.mkdir(exist_ok=True)
    write(folder / "called.py", CALLED.format(decorator=decorator, step=step))
    write(folder / "caller.py", CALLER.format(decorator=decorator))


def start(folder: Path, program: str = ASK, **environment: str) -> subprocess.Popen[str]:
    """A new process that imports from the folder; Python's own cache of bytecode is left out of it."""
    search = [str(folder), *sys.path]
    own = {"PYTHONPATH": os.pathsep.join(search), "PYTHONDONTWRITEBYTECODE": "1"}
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**inherited, **own, **environment},
    )


def answers(processes: Sequence[subprocess.Popen[str]]) -> list[list[int]]:
    """The numbers that each process prints."""
    printed = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return [[int(number) for number in text.split()] for text in printed]


def test_a_change_in_a_called_kernel_recompiles_its_caller(tmp_path: Path) -> None:
    """The caller's file stays as it is; the second run loads, the run after the change compiles and is right."""
    write_kernels(tmp_path, OURS, step=1)
    assert answers([start(tmp_path)]) == [[12, 0]]
    assert answers([start(tmp_path)]) == [[12, 1]]
    write_kernels(tmp_path, OURS, step=5)
    assert answers([start(tmp_path)]) == [[20, 0]]
    assert answers([start(tmp_path)]) == [[20, 1]]


@only_if_thorough
def test_the_plain_cache_would_answer_with_the_old_kernel(tmp_path: Path) -> None:
    """What the test above guards against: numba's own cache loads a caller that has the old step within it."""
    write_kernels(tmp_path, PLAIN, step=1)
    assert answers([start(tmp_path)]) == [[12, 0]]
    write_kernels(tmp_path, PLAIN, step=5)
    assert answers([start(tmp_path)]) == [[12, 1]]


def test_processes_that_compile_at_once_agree(tmp_path: Path) -> None:
    """Four processes start after a change, with files of the old kernel in the cache: all give the new answer."""
    write_kernels(tmp_path, OURS, step=1)
    assert answers([start(tmp_path)]) == [[12, 0]]
    write_kernels(tmp_path, OURS, step=7)
    assert {answer for answer, _ in answers([start(tmp_path) for _ in range(4)])} == {24}


def test_a_file_of_another_signature_or_older_code_counts_as_missing(tmp_path: Path) -> None:
    """An index that names a file which another process has overwritten leads to a compilation, to no wrong code."""
    write_kernels(tmp_path, OURS, step=1)
    ask_floats = ASK.replace("twice(10)", "int(twice(10.5) * 2)")
    assert answers([start(tmp_path)]) == [[12, 0]]
    assert answers([start(tmp_path, ask_floats)]) == [[25, 0]]
    first, second = sorted((tmp_path / "__pycache__").glob("caller.twice-*.nbc"))
    first.write_bytes(second.read_bytes())
    assert answers([start(tmp_path)]) == [[12, 0]]
    assert answers([start(tmp_path, ask_floats)]) == [[25, 1]]


PAIR = """from typing import NamedTuple


class Pair(NamedTuple):
    first: int
    second: int
"""
SUM_OF_PAIR = """{decorator}

from {module} import Pair


@kernel
def twice(value):
    return total(Pair(value, value))


@kernel
def total(pair):
    return pair.first + pair.second
"""


def write_pair(folder: Path, decorator: str, module: str) -> None:
    """A kernel over a type of its own, from a module of that name alone."""
    for other in folder.glob("*pair.py"):
        other.unlink()
    write(folder / f"{module}.py", PAIR)
    write(folder / "caller.py", SUM_OF_PAIR.format(decorator=decorator, module=module))


def test_a_type_that_moved_leaves_no_unreadable_cache(tmp_path: Path) -> None:
    """Signatures in old files name the type where it was; they count as missing."""
    write_pair(tmp_path, OURS, "old_pair")
    assert answers([start(tmp_path)]) == [[20, 0]]
    write_pair(tmp_path, OURS, "new_pair")
    assert answers([start(tmp_path)]) == [[20, 0]]
    assert answers([start(tmp_path)]) == [[20, 1]]


@only_if_thorough
def test_the_plain_cache_would_fail_where_a_type_moved(tmp_path: Path) -> None:
    """What the test above guards against: numba's own cache reads the old signatures before it compares stamps."""
    write_pair(tmp_path, PLAIN, "old_pair")
    assert answers([start(tmp_path)]) == [[20, 0]]
    write_pair(tmp_path, PLAIN, "new_pair")
    process = start(tmp_path)
    assert "No module named 'old_pair'" in process.communicate(timeout=120)[1]


def test_the_users_own_folder_for_caches_is_respected(tmp_path: Path) -> None:
    """NUMBA_CACHE_DIR says where the files go, as for all of numba."""
    kernels, elsewhere = tmp_path / "kernels", tmp_path / "elsewhere"
    write_kernels(kernels, OURS, step=1)
    assert answers([start(kernels, NUMBA_CACHE_DIR=str(elsewhere))]) == [[12, 0]]
    assert answers([start(kernels, NUMBA_CACHE_DIR=str(elsewhere))]) == [[12, 1]]
    assert not (kernels / "__pycache__").exists() or not any((kernels / "__pycache__").iterdir())


def test_a_folder_that_cannot_be_written_sends_the_cache_to_the_user(tmp_path: Path) -> None:
    """Where `__pycache__` cannot be made, the files go to the user's cache folder, as numba has it."""
    kernels, home = tmp_path / "kernels", tmp_path / "home"
    write_kernels(kernels, OURS, step=1)
    (kernels / "__pycache__").write_text("no folder", encoding="utf-8")
    user = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "LOCALAPPDATA": str(home)}
    assert answers([start(kernels, **user)]) == [[12, 0]]
    assert answers([start(kernels, **user)]) == [[12, 1]]
    assert any(home.rglob("caller.twice-*.nbi"))


def test_saving_files_unchanged_compiles_nothing(tmp_path: Path) -> None:
    """Contents count, not times."""
    write_kernels(tmp_path, OURS, step=1)
    assert answers([start(tmp_path)]) == [[12, 0]]
    os.utime(tmp_path / "called.py")
    os.utime(tmp_path / "caller.py")
    assert answers([start(tmp_path)]) == [[12, 1]]


INNER = OURS.replace("import kernel", "import inner as kernel")
ASK_BOTH = "from caller import twice; from called import step; print(twice(10), step(10))"


def test_python_can_call_an_inner_kernel_that_another_one_was_compiled_with(tmp_path: Path) -> None:
    """Numba would call a null pointer, above all where it finds the form that Python cannot call on disk."""
    write_kernels(tmp_path, INNER, step=1)
    write(tmp_path / "caller.py", CALLER.format(decorator=OURS))
    assert answers([start(tmp_path, ASK_BOTH)]) == [[12, 11]]
    assert answers([start(tmp_path, ASK_BOTH)]) == [[12, 11]]
    assert len(list((tmp_path / "__pycache__").glob("called.step-*.nbi"))) == 2


def test_without_compilation_inner_kernels_are_plain_functions(tmp_path: Path) -> None:
    """NUMBA_DISABLE_JIT holds for them, too."""
    write_kernels(tmp_path, INNER, step=1)
    assert answers([start(tmp_path, ASK_BOTH, NUMBA_DISABLE_JIT="1")]) == [[12, 11]]


def test_without_compilation_kernels_are_plain_functions(tmp_path: Path) -> None:
    """NUMBA_DISABLE_JIT leaves nothing to cache."""
    write_kernels(tmp_path, OURS, step=1)
    program = "from caller import twice; print(twice(10))"
    assert answers([start(tmp_path, program, NUMBA_DISABLE_JIT="1")]) == [[12]]


SUMMING = """{decorator}

import numpy as np


@kernel
def twice(value):
    if value < 0:
        raise ValueError("a negative number")
    return np.ones(value, np.int64).sum() * 2
"""
ASK_FOR_LIBRARY = f"""{ASK}
import sys
print(int("numba.np.arraymath" in sys.modules))
try:
    twice(-1)
except ValueError as error:
    print(int(str(error) == "a negative number"))
"""


@pytest.mark.parametrize(
    ("decorator", "loads_library"),
    [(OURS, 0), pytest.param(PLAIN, 1, marks=only_if_thorough)],
    ids=["ours", "plain"],
)
def test_a_compiled_kernel_loads_without_the_library_it_was_compiled_from(
    tmp_path: Path, decorator: str, loads_library: int
) -> None:
    """It still raises what it was compiled to raise. Numba's own cache, the control, imports how NumPy is compiled."""
    write(tmp_path / "caller.py", SUMMING.format(decorator=decorator))
    assert answers([start(tmp_path, ASK_FOR_LIBRARY)]) == [[20, 0, 1, 1]]
    assert answers([start(tmp_path, ASK_FOR_LIBRARY)]) == [[20, 1, loads_library, 1]]


def nowhere_else(kernels: Path, temporary: Path) -> dict[str, str]:
    """A machine on which neither the package nor the home of the user can be written."""
    write_kernels(kernels, OURS, step=1)
    (kernels / "__pycache__").write_text("no folder", encoding="utf-8")
    temporary.mkdir()
    return {**dict.fromkeys(("HOME", "XDG_CACHE_HOME"), os.devnull), "TMPDIR": str(temporary)}


ASK_WHERE = f"""{ASK}
from veilset.kernel_folder import about_kernel_folder
print(int("are kept in" in about_kernel_folder()), int("are not kept" in about_kernel_folder()))
"""


def test_where_nothing_else_can_be_written_a_private_temporary_folder_keeps_the_cache(tmp_path: Path) -> None:
    """Nobody else can read or write it; the second run loads from it."""
    machine = nowhere_else(tmp_path / "kernels", tmp_path / "temporary")
    assert answers([start(tmp_path / "kernels", ASK_WHERE, **machine)]) == [[12, 0, 1, 0]]
    assert answers([start(tmp_path / "kernels", ASK_WHERE, **machine)]) == [[12, 1, 1, 0]]
    (folder,) = (tmp_path / "temporary").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert any(folder.rglob("caller.twice-*.nbi"))


@pytest.mark.parametrize("trap", ["open to others", "a link"])
def test_a_folder_that_others_could_have_filled_is_not_loaded_from(tmp_path: Path, trap: str) -> None:
    """What is loaded is run. The kernel is compiled and answers all the same, and nothing is kept."""
    machine = nowhere_else(tmp_path / "kernels", tmp_path / "temporary")
    folder = tmp_path / "temporary" / f"veilset-kernels-{os.getuid()}"
    if trap == "a link":
        (tmp_path / "theirs").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "theirs")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    assert answers([start(tmp_path / "kernels", ASK_WHERE, **machine)]) == [[12, 0, 0, 1]]
    assert not any(folder.iterdir())


def test_a_kernel_that_cannot_be_kept_answers_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills up while a release is made must not cost the release."""
    tried = []

    def full(self: KernelFile, key: object, data: object) -> None:
        tried.append((self, key, data))
        raise OSError(errno.ENOSPC, "No space left on device")

    write_kernels(tmp_path, OURS, step=1)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(KernelFile, "save", full)
    twice = importlib.import_module("caller").twice
    assert twice(10) == 12
    assert tried


def test_in_the_usual_places_there_is_nothing_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where somebody had to look for a private folder."""
    monkeypatch.setattr(kernel_folder, "private_kernel_folder", cache(lambda: None))
    assert kernel_folder.about_kernel_folder() is None
    kernel_folder.private_kernel_folder()
    assert "set NUMBA_CACHE_DIR" in (kernel_folder.about_kernel_folder() or "")
