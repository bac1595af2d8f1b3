"""The version, where it is known without loading anything else."""

__version__ = "0.2.0"
