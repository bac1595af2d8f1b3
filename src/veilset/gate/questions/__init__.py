"""What the curator can be asked: every `ask_` method, with its sensitivity."""
