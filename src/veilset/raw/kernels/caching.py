# mypy: allow-untyped-calls
"""Compiled kernels on disk, fresh as long as no source file of the kernels' folder has changed.

A compiled kernel contains the kernels that it calls. Numba's own cache compares the caller's file alone, so it would
go on with what a called kernel was before a change in another file. Here all kernels of a folder are compiled anew
once the content of any of them changes. Where the files go is numba's choice: NUMBA_CACHE_DIR if that is set, else
`__pycache__` beside the source, else a folder of the user; and where none of these can be written, a private folder
among the temporary files (`veilset.kernel_folder`), or none at all. A kernel that cannot be kept runs all the same:
what it counts may have been paid for.
"""

import hashlib
import inspect
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime.nrt import rtsys

from veilset.kernel_folder import private_kernel_folder


@cache
def digest_of_sources(folder: Path) -> bytes:
    """A digest of the names and contents of a folder's Python files, read once in a process; empty without files."""
    sources = [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.py"))]
    return hashlib.sha256(repr(sources).encode()).digest() if sources else b""


class KernelFile(IndexDataCacheFile):
    """Entries that carry the stamp and the signature that they were compiled for; what does not fit is not there.

    Numba numbers the files of a function from 1 and writes the index first. So while several processes compile, a
    file may hold older code, or another signature's, than its index says. And it reads the signatures of an index
    before it compares the stamp, which fails where they name a class that has moved since.
    """

    def save(self, key: Any, data: Any) -> None:  # noqa: ANN401 - the compiler's own objects
        """Store what was compiled for a signature."""
        super().save(key, (self._source_stamp, key, data))

    def load(self, key: Any) -> Any:  # noqa: ANN401
        """What was compiled for this signature from these sources, or None."""
        match super().load(key):
            case (stamp, stored_key, data) if stamp == self._source_stamp and stored_key == key:
                return data
            case _:
                return None

    def _load_index(self) -> Any:  # noqa: ANN401
        return _unless_unreadable(super()._load_index, {})

    def _load_data(self, name: str) -> Any:  # noqa: ANN401
        stored = Path(self._data_path(name)).read_bytes()
        return _unless_unreadable(StoredKernel(BytesIO(stored)).load, None)


class StoredKernel(pickle.Unpickler):
    """Reads what numba stored of a compiled kernel, without importing what the kernel was compiled from.

    A kernel carries the environment of each function within it, numba's own implementations of NumPy among them.
    Numba imports the modules of these: the compiler's library, and SciPy where that is installed.
    """

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        """What a name within the file stands for."""
        is_environment = module == Environment.__module__ and name == "_rebuild_env"
        return _environment if is_environment else super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Environment:
    """The environment of one compiled function: its constants, which compiled code looks at.

    The globals of its module are for functions that run in the interpreter; a kernel has none.
    """
    known: Environment | None = lookup_environment(name)
    if known is not None:
        return known
    loaded = sys.modules.get(module)
    environment = Environment({"__name__": module} if loaded is None else vars(loaded))
    environment.consts[:] = constants
    environment.env_name = name
    Environment._memo[name] = environment  # noqa: SLF001 - as numba's own does
    return environment


def _unless_unreadable(read: Callable[[], Any], otherwise: object) -> Any:  # noqa: ANN401
    """What is read from a file, if it can be: old files may name what is no more, and pickle raises anything."""
    try:
        return read()
    except Exception:  # noqa: BLE001 - a file that cannot be read is compiled anew
        return otherwise


class NowhereToKeepError(Exception):
    """There is nowhere to keep compiled kernels."""


class PrivateLocator(InTreeCacheLocator):
    """The private folder among the temporary files, for packages and homes that cannot be written."""

    def __init__(self, function: Callable[..., object], file: str) -> None:
        super().__init__(function, file)
        folder = private_kernel_folder()
        if folder is None:
            raise NowhereToKeepError
        self._cache_path = str(folder / self.get_suitable_cache_subpath(file))

    @classmethod
    def from_function(cls, py_func: Callable[..., object], py_file: str) -> "PrivateLocator | None":
        """Where a kernel goes, if there is such a folder."""
        try:
            found: PrivateLocator | None = super().from_function(py_func, py_file)
        except NowhereToKeepError:
            return None
        return found


class KernelPlace(CompileResultCacheImpl):
    """Where the files of one kernel go: numba's choice, then the private folder."""

    _locator_classes = [*CompileResultCacheImpl._locator_classes, PrivateLocator]  # noqa: RUF012, SLF001


class KernelCache(FunctionCache):
    """Numba's cache of one function, with the sources of the whole folder as its stamp.

    Nothing is looked up on disk before the first call of the kernel: most commands call a quarter of the kernels.
    """

    _impl_class = KernelPlace

    def __init__(self, function: Callable[..., object], form: str = "") -> None:
        """Keep a form of a kernel in files of its own: one that Python cannot call is not to be taken for another."""
        self._name = repr(function)
        self._py_func = function
        self._form = form
        self.enable()

    @cached_property
    def _impl(self) -> Any:  # noqa: ANN401
        try:
            return self._impl_class(self._py_func)
        except RuntimeError:  # numba found no place, and neither did we
            raise NowhereToKeepError from None

    @cached_property
    def _cache_path(self) -> str:
        try:
            return str(self._impl.locator.get_cache_path())
        except NowhereToKeepError:
            return ""

    @cached_property
    def _cache_file(self) -> IndexDataCacheFile:  # type: ignore[override]
        name = self._impl.filename_base + self._form
        sources = digest_of_sources(Path(inspect.getfile(self._py_func)).parent)
        if not sources:  # within a zip or a frozen program, where numba's stamp is all there is to compare
            stamp = self._impl.locator.get_source_stamp()
            return IndexDataCacheFile(self._cache_path, name, stamp)
        stamp = sources + digest_of_sources(
            Path(__file__).parent
        )  # what kernels of other folders are made with
        return KernelFile(self._cache_path, name, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401
        """What was compiled for a signature, or None.

        Numba imports everything that a compiler may need before it looks: a third of a second, and twice that where
        SciPy is installed. Compiled code needs the allocator of arrays alone; a compilation loads the rest itself.
        """
        rtsys.initialize(target_context)
        with suppress(OSError, NowhereToKeepError):
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401
        """Keep what was compiled for a signature, where that can be done: a disk can be full, or read-only by now."""
        with suppress(OSError, NowhereToKeepError):
            self._save_overload(sig, data)
