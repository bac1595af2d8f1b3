"""What the help of a command ends with."""


def examples(*calls: str) -> str:
    """Calls as one would type them, each on a line of its own: the mark in front keeps lines as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {call}" for call in calls)
