"""Packages that no command needs, but that others import wherever they are installed, for a third of a second."""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

UNUSED_PACKAGES = ("pandas", "scipy")
"""pyarrow imports the one with its first array, numba the other; both go on without it."""


def leave_out_unused() -> None:
    """Make these packages look as if they were not installed; for a process of which nobody else imports anything."""
    sys.meta_path.insert(0, _NotInstalled())


class _NotInstalled(MetaPathFinder, Loader):
    """Finds the unused packages, and fails to load them: whoever only asks where they are gets an answer."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where to load an unused package from; None for any other, which others find."""
        del path, target
        return ModuleSpec(fullname, self) if fullname in UNUSED_PACKAGES else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Fail as an import of what is not installed does."""
        raise ModuleNotFoundError(f"No module named {spec.name!r}", name=spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing gets here."""
        raise NotImplementedError(module.__name__)
