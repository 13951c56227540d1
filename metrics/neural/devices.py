"""Devices as a user names them, and the number formats of the weights."""

from __future__ import annotations

import re
from typing import Any

from challenge_sets import InputError

_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")
_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}

TOLERANCE = {"fp32": 1e-5, "bf16": 2e-2, "fp16": 4e-3}
"""How far batching may move a score of the scale 0 to 1, by precision: two values within it are a tie."""


def devices(wanted: str) -> tuple[str, ...]:
    """The devices that ``auto``, ``cpu``, ``mps``, ``cuda``, ``cuda:N`` or a list of these stands for.

    ``auto`` takes every CUDA device, else MPS, else the processor. ``InputError`` for one that is not there.
    """
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    every = tuple(f"cuda:{number}" for number in range(count))
    mps = torch.backends.mps.is_available()
    if wanted == "auto":
        return every or (("mps",) if mps else ("cpu",))
    found: list[str] = []
    for name in (part.strip() for part in wanted.split(",")):
        if not _DEVICE.fullmatch(name):
            raise InputError(
                f"no device is called '{name}'", hint="auto, cpu, mps, cuda, cuda:N, or several with commas"
            )
        there = {"cpu": ("cpu",), "mps": ("mps",) if mps else (), "cuda": every}.get(name)
        if there is None:
            there = (name,) if name in every else ()
        if not there:
            seen = ", ".join((*every, *(("mps",) if mps else ()), "cpu"))
            raise InputError(f"there is no device '{name}' here", hint=f"devices: {seen}")
        found += there
    return tuple(found)


def dtype(precision: str) -> Any:
    """The torch number format of a precision."""
    import torch

    return getattr(torch, _DTYPES[precision])
