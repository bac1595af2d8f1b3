"""What a transaction becomes before it is counted: truncated, or split; and the sensitivity that buys."""
