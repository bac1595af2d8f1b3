"""Cuts: what a transaction becomes before it is counted, and the sensitivity that buys."""
