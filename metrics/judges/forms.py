"""What an answer of a judge has to look like, what is read from it, and what penalty its errors add up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from challenge_sets import InputError, MarkedError
from challenge_sets.records import Severity

FormKind = Literal["mqm", "number", "esa"]

MQM_WEIGHTS: Mapping[Severity, float] = {"critical": 25.0, "major": 5.0, "minor": 1.0}


@dataclass(frozen=True, slots=True)
class Form:
    """The form of an answer, as a prompt set asks for it.

    ``mqm``: errors under severities; ``number``: one number; ``esa``: errors, then a number. ``json`` says
    that the answer is a JSON object. ``severities`` are those asked for, ``classes`` the names of errors
    (empty: any), ``labels`` further lines by name with the values that each may take.
    """

    kind: FormKind
    json: bool = False
    minimum: float = 0.0
    maximum: float = 100.0
    severities: tuple[Severity, ...] = ("critical", "major", "minor")
    classes: tuple[str, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """The texts that an answer is about: spans are located in them, and echoes of them are no answer.

    For a document, ``hypothesis`` and ``source`` are its segments joined by one space. ``others`` are all
    further texts that stood in the prompt: the reference, earlier turns.
    """

    hypothesis: str
    source: str = ""
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer says. Not understood: ``reason`` says why, and nothing else is set.

    ``number`` is the number of a form that has one. ``errors`` are those marked, an empty tuple where the
    judge found none, ``None`` for a form without errors. ``labels`` holds the labels that were understood.
    """

    number: float | None = None
    errors: tuple[MarkedError, ...] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""

    @property
    def understood(self) -> bool:
        """Whether the answer was understood."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class Scoring:
    """How errors add up to a penalty; lower is better, 0 is no error.

    ``most_errors`` counts only so many, the worst first, and ``cap`` bounds the sum (GEMBA: 5 and 25; Kocmi
    and Federmann 2023). Errors of ``critical_classes`` count as critical, whatever the judge called them.
    Raises ``InputError`` for a weight that is negative or not finite.
    """

    weights: Mapping[Severity, float] = field(default_factory=lambda: dict(MQM_WEIGHTS))
    cap: float | None = None
    most_errors: int | None = None
    critical_classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, weight in self.weights.items():
            if not 0.0 <= weight < float("inf"):
                raise InputError(f"the weight of a {name} error is {weight}, it is a number from 0")

    def penalty(self, errors: Sequence[MarkedError]) -> float:
        """The penalty of these errors."""
        weights = sorted((self._weight(error) for error in errors), reverse=True)[: self.most_errors]
        total = float(sum(weights))
        return total if self.cap is None else min(total, self.cap)

    def _weight(self, error: MarkedError) -> float:
        return self.weights["critical" if error.category in self.critical_classes else error.severity]

    def parts(self) -> dict[str, str]:
        """The settings, for a signature."""
        weights = ",".join(f"{name}={_exact(weight)}" for name, weight in sorted(self.weights.items()))
        named = {"weights": weights, "cap": "none" if self.cap is None else _exact(self.cap)}
        if self.most_errors is not None:
            named["most_errors"] = str(self.most_errors)
        if self.critical_classes:
            named["critical_classes"] = ",".join(sorted(self.critical_classes))
        return named


def _exact(number: float) -> str:
    """The shortest spelling that no other number has; whole numbers without a fraction."""
    return repr(float(number)).removesuffix(".0")
