"""What can go wrong, as one small tree.

    VeilsetError            catch this to catch everything of ours
    ├── BadInput            a file, table or list that cannot be read as transactions
    ├── BadCall             an argument out of range, a combination that makes no sense
    │   └── ChoiceMissing   a choice that nobody makes in the caller's place
    ├── BudgetExceeded      a question that the budget cannot pay; nothing was looked at
    ├── ClusterFailed       work on a Spark cluster that could not be done, or a cluster that cannot be reached
    ├── EntropyFailed       randomness that cannot be relied on; nothing was drawn
    ├── LedgerUnavailable   a ledger that cannot be read or written: nothing was looked at
    ├── MemoryTooSmall      data that takes more memory than there is
    └── NoiseTooSmall       noise that would cost more than was paid: a mistake in veilset; nothing was drawn

BadInput and BadCall are ValueErrors, and MemoryTooSmall is a MemoryError: whoever catches those catches them.

A message says what was given, what is allowed and what to do next. It never quotes private data: BadInput
names the file and the line, not what the line holds. A message is one line, but for that of a choice: it explains
what there is to choose from, a line each.
"""


class VeilsetError(Exception):
    """Everything that veilset raises on purpose."""


class BadInput(VeilsetError, ValueError):  # noqa: N818 - reads as what happened
    """A file, table or list that cannot be read as transactions."""


class BadCall(VeilsetError, ValueError):  # noqa: N818
    """An argument out of range, or a combination that makes no sense."""


class ChoiceMissing(BadCall):
    """A choice that nobody makes in the caller's place; the message has a line for each way to choose."""


class BudgetExceeded(VeilsetError):  # noqa: N818
    """A question that the budget cannot pay; nothing was looked at."""


class ClusterFailed(VeilsetError):  # noqa: N818
    """Work on a Spark cluster that could not be done, or a cluster that cannot be reached."""


class EntropyFailed(VeilsetError):  # noqa: N818
    """Randomness of the operating system that is none, or that another process has drawn before. Nothing was drawn."""


class LedgerUnavailable(VeilsetError):  # noqa: N818
    """A ledger that cannot be read or written. What it could not be told was not looked at."""


class MemoryTooSmall(VeilsetError, MemoryError):  # noqa: N818
    """Data that takes more memory than there is; the message says how much."""


class NoiseTooSmall(VeilsetError):  # noqa: N818
    """Noise that would cost more than was paid for it: a mistake in veilset. Nothing was drawn."""
