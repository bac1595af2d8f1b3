"""What several methods have in common."""
