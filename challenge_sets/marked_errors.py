"""An error that a metric or a judge marked in a hypothesis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, get_args

from challenge_sets.json_fields import optional_string, string
from challenge_sets.records import Severity, Span

MARKED_SEVERITIES: tuple[Severity, ...] = tuple(each for each in get_args(Severity) if each != "none")


@dataclass(frozen=True, slots=True)
class MarkedError:
    """What is called wrong, how bad it is, and how sure the marker was.

    ``span`` is a stretch of the hypothesis, ``None`` for an error that was named without one or whose quote
    is nowhere in it; ``source`` a stretch of the source that an omission left out. ``quote`` is what the
    marker wrote, where it wrote anything. ``category`` is its name of the error, such as an MQM class.
    ``confidence`` is a probability, or ``None`` where none was given. ``ValueError`` for an empty stretch or
    a severity that is none.
    """

    span: Span | None
    severity: Severity
    confidence: float | None = None
    category: str | None = None
    quote: str | None = None
    source: Span | None = None

    def __post_init__(self) -> None:
        for span in (self.span, self.source):
            if span is not None and span.start == span.end:
                raise ValueError(f"the marked error at {span.start} covers nothing")
        if self.severity not in MARKED_SEVERITIES:
            raise ValueError(f"severity is {self.severity!r}, it is one of {', '.join(MARKED_SEVERITIES)}")
        if self.confidence is not None and not 0.0 <= self.confidence <= 1.0:
            raise ValueError(f"confidence is {self.confidence}, it lies between 0 and 1")

    @property
    def located(self) -> Span:
        """The span of an error that has one; ``ValueError`` for another."""
        if self.span is None:
            raise ValueError("the error has no place in the hypothesis")
        return self.span

    def to_json(self) -> dict[str, Any]:
        """``start``, ``end`` and ``text`` (null without a span), ``severity``, ``confidence``.

        Then ``category``, ``quote`` and ``source``, each only where it is known.
        """
        place = {"start": None, "end": None, "text": None} if self.span is None else self.span.to_json()
        plain: dict[str, Any] = place | {"severity": self.severity, "confidence": self.confidence}
        if self.category is not None:
            plain["category"] = self.category
        if self.quote is not None:
            plain["quote"] = self.quote
        if self.source is not None:
            plain["source"] = self.source.to_json()
        return plain

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Inverse of ``to_json``; ``ValueError`` says which field is wrong."""
        confidence = value.get("confidence")
        if confidence is not None and not isinstance(confidence, int | float):
            raise ValueError(f"confidence is {confidence!r}, it is a number or null")
        source = value.get("source")
        return cls(
            None if value.get("start") is None else Span.from_json(value),
            string(value, "severity"),  # type: ignore[arg-type]
            confidence,
            optional_string(value, "category"),
            optional_string(value, "quote"),
            None if source is None else Span.from_json(source),
        )
