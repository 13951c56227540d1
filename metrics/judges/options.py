"""How a judge is asked: the model behind it, how often, and where answers are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from challenge_sets import InputError
from metrics.llm.budget import Budget
from metrics.llm.options import LlmOptions


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """One model as a judge, which keeps its answers in the log of calls at ``log``.

    Every text is judged ``samples`` times; ``sample`` is the number of the repetition that one metric object
    stands for. Where ``asks`` is false nothing is sent: only what the log holds counts. ``batched``: calls go
    in batches, at their price. ``budget`` is that of the run: all judges made from these options, and from
    copies of them, spend from it.
    """

    llm: LlmOptions
    log: Path
    samples: int = 1
    sample: int = 1
    asks: bool = True
    batched: bool = False
    budget: Budget = field(default=None, compare=False, repr=False)  # type: ignore[assignment]  # set below

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise InputError(f"samples is {self.samples}, it is at least 1")
        if self.budget is None:
            object.__setattr__(self, "budget", Budget(self.llm))
