"""Publish which sets of items are common, under differential privacy."""

__version__ = "0.1.0"
