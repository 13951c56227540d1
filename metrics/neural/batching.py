"""Batches filled by tokens, longest texts first, and what happens where memory runs out."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from challenge_sets import InputError
from challenge_sets.console import notice

T = TypeVar("T")

_DEFAULT_TOKENS = {"cpu": 1024, "mps": 4096, "cuda": 8192}
_SHRINK = 4
_OUT_OF_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "cublas_status_alloc_failed",
    "cudnn_status_alloc_failed",
)


class Budget:
    """Padded tokens that a batch may hold; shrunk once, for the rest of the run, where memory runs out."""

    def __init__(self, tokens: int | None, device: str) -> None:
        self.tokens = tokens or _DEFAULT_TOKENS[device.partition(":")[0]]
        self.device = device
        self._shrunk = False

    def shrink(self) -> None:
        """Take smaller batches from now on and say so; ``InputError`` where that was done before."""
        if self._shrunk:
            raise InputError(
                f"out of memory on {self.device}, also with batches of {self.tokens} tokens",
                hint="what was scored is kept; go on with --precision bf16, fewer --batch-tokens, a smaller "
                "model or another --device",
            )
        before, self.tokens = self.tokens, max(1, self.tokens // _SHRINK)
        self._shrunk = True
        notice(
            f"out of memory on {self.device} with batches of {before} tokens: going on with {self.tokens} "
            f"(--batch-tokens {self.tokens} would start there)"
        )

    def run(self, lengths: Sequence[int], forward: Callable[[list[int]], T]) -> Iterator[tuple[list[int], T]]:
        """Call ``forward`` with the places of each batch; yield them with what it returned.

        ``lengths`` counts the tokens of each input. The longest go first: what does not fit is known early.
        """
        order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
        start = 0
        while start < len(order):
            size = max(1, self.tokens // max(1, lengths[order[start]]))
            batch = order[start : start + size]
            try:
                done = forward(batch)
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                done = None
            # Outside the handler: the traceback would keep the tensors of the failed pass alive.
            if done is None:
                release_memory()
                self.shrink()
                continue
            yield batch, done
            start += len(batch)


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on whatever device."""
    return isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in _OUT_OF_MEMORY)


def release_memory() -> None:
    """Give freed memory back to the device."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()
