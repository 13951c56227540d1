"""What every model in memory offers, whatever family it is of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from challenge_sets import MarkedError
from metrics.neural.texts import Texts


class Result(NamedTuple):
    """The raw score of one pass, and the errors marked in it where the model marks any."""

    raw: float
    errors: tuple[MarkedError, ...] | None = None


class Network(ABC):
    """A model in memory, on one device."""

    @abstractmethod
    def results(self, inputs: Sequence[Texts]) -> Iterator[dict[int, Result]]:
        """Results of distinct texts that fit, by their place, as they become final.

        What the model raises passes through.
        """


def padded(sequences: Sequence[tuple[int, ...]], pad: int, device: str) -> tuple[Any, Any]:
    """Ids and attention mask, ``(batch, longest)``."""
    import torch

    longest = max(map(len, sequences))
    gaps = [longest - len(sequence) for sequence in sequences]
    ids = [[*sequence, *[pad] * gap] for sequence, gap in zip(sequences, gaps, strict=True)]
    mask = [[1] * (longest - gap) + [0] * gap for gap in gaps]
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)
