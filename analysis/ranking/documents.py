"""System means over documents drawn at random: with replacement, and in halves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from analysis.ranking.units import Block
from analysis.statistics.resampling import resample_counts

_CELLS_AT_ONCE = 4_000_000
"""Weights of documents held at a time: resamples × documents."""


@dataclass(frozen=True, slots=True)
class DocumentSums:
    """Sums of scores over the units of each document: a resample of documents is then one matrix product.

    ``units`` has shape ``(documents,)``, ``sums`` shape ``(documents, conditions, systems)``.
    """

    units: NDArray[np.float64]
    sums: NDArray[np.float64]

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return int(self.units.size)

    def means(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """System means under weights of documents: ``(n, documents)`` to ``(n, conditions, systems)``."""
        documents, conditions, systems = self.sums.shape
        total = weights @ self.sums.reshape(documents, -1)
        means: NDArray[np.float64] = total / (weights @ self.units)[:, np.newaxis]
        return means.reshape(-1, conditions, systems)


def document_sums(block: Block) -> DocumentSums:
    """Sums by document, for the documents that the block has, in the order of their names."""
    documents, codes = np.unique(block.document, return_inverse=True)
    conditions, systems, _ = block.values.shape
    sums = np.zeros((documents.size, conditions, systems))
    np.add.at(sums, codes, block.values.transpose(2, 0, 1))
    return DocumentSums(np.bincount(codes, minlength=documents.size).astype(np.float64), sums)


def resampled_weights(documents: int, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each document is drawn, in parts of shape ``(≤ resamples, documents)``.

    The draws depend on nothing but the three numbers: conditions, metrics and human scores on equally many
    documents (in the order of their names) share them.
    """
    if documents * resamples <= _CELLS_AT_ONCE:
        yield _drawn(documents, resamples, seed).astype(np.float64)
        return
    rng = np.random.default_rng(seed)
    for size in _parts(documents, resamples):
        yield resample_counts(documents, size, rng).astype(np.float64)


@lru_cache(maxsize=8)
def _drawn(documents: int, resamples: int, seed: int) -> NDArray[np.int32]:
    # Drawing takes longer than everything else, and every metric and condition wants the same draws.
    return resample_counts(documents, resamples, np.random.default_rng(seed)).astype(np.int32)


def resampled_means(sums: DocumentSums, resamples: int, seed: int) -> NDArray[np.float64]:
    """System means over documents drawn with replacement, shape ``(resamples, conditions, systems)``.

    The same documents are drawn for all conditions.
    """
    parts = resampled_weights(sums.documents, resamples, seed)
    return np.concatenate([sums.means(weights) for weights in parts])


def split_means(
    sums: DocumentSums, splits: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """System means over one half of the documents, drawn at random, and over the other, ``splits`` times.

    Two arrays of shape ``(splits, conditions, systems)``; of an odd number the second half has one more.
    """
    rng = np.random.default_rng(seed)
    first, second = [], []
    for size in _parts(sums.documents, splits):
        half = np.zeros((size, sums.documents))
        half[:, : sums.documents // 2] = 1.0
        half = rng.permuted(half, axis=1)
        first.append(sums.means(half))
        second.append(sums.means(1.0 - half))
    return np.concatenate(first), np.concatenate(second)


def _parts(documents: int, resamples: int) -> Iterator[int]:
    step = max(1, _CELLS_AT_ONCE // documents)
    for start in range(0, resamples, step):
        yield min(step, resamples - start)
