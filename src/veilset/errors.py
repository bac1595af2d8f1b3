"""What can go wrong, as one small tree.

    VeilsetError            catch this to catch everything of ours
    ├── BadInput            a file, table or list that cannot be read as transactions
    ├── BadCall             an argument out of range, a combination that makes no sense
    └── BudgetExceeded      a question that the budget cannot pay; nothing was looked at

A message says what was given, what is allowed and what to do next. It never quotes private data: BadInput
names the file and the line, not what the line holds.
"""


class VeilsetError(Exception):
    """Everything that veilset raises on purpose."""


class BadInput(VeilsetError):  # noqa: N818 - reads as what happened
    """A file, table or list that cannot be read as transactions."""


class BadCall(VeilsetError):  # noqa: N818
    """An argument out of range, or a combination that makes no sense."""


class BudgetExceeded(VeilsetError):  # noqa: N818
    """A question that the budget cannot pay; nothing was looked at."""
