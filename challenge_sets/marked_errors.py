"""An error that a metric or a judge marked in a hypothesis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, get_args

from challenge_sets.json_fields import string
from challenge_sets.records import Severity, Span

MARKED_SEVERITIES: tuple[Severity, ...] = tuple(each for each in get_args(Severity) if each != "none")


@dataclass(frozen=True, slots=True)
class MarkedError:
    """A stretch of the hypothesis that is called wrong, how bad it is, and how sure the marker was.

    ``confidence`` is a probability, or ``None`` where none was given. ``ValueError`` for an empty stretch or
    a severity that is none.
    """

    span: Span
    severity: Severity
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.span.start == self.span.end:
            raise ValueError(f"the marked error at {self.span.start} covers nothing")
        if self.severity not in MARKED_SEVERITIES:
            raise ValueError(f"severity is {self.severity!r}, it is one of {', '.join(MARKED_SEVERITIES)}")
        if self.confidence is not None and not 0.0 <= self.confidence <= 1.0:
            raise ValueError(f"confidence is {self.confidence}, it lies between 0 and 1")

    def to_json(self) -> dict[str, Any]:
        """``start``, ``end``, ``text``, ``severity`` and ``confidence``."""
        return self.span.to_json() | {"severity": self.severity, "confidence": self.confidence}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Inverse of ``to_json``; ``ValueError`` says which field is wrong."""
        confidence = value.get("confidence")
        if confidence is not None and not isinstance(confidence, int | float):
            raise ValueError(f"confidence is {confidence!r}, it is a number or null")
        return cls(Span.from_json(value), string(value, "severity"), confidence)  # type: ignore[arg-type]
