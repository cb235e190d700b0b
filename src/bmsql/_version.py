"""The version, kept by itself so that building and importing need nothing else."""

__version__ = "0.1.0"
