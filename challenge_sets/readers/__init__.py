"""Readers of benchmark formats, one module each, all giving the same stream of translations."""

from challenge_sets.readers.base import READERS, Reader, ReadOptions

__all__ = ["READERS", "ReadOptions", "Reader"]
