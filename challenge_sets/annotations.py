"""What an annotator said of one output: a score, and the errors marked in it.

Offsets are half-open code-point offsets into the translation exactly as the annotator saw it; it is therefore
kept unnormalised. An omission has no place in the translation. Records are frozen, and one that breaks its
own contract raises ``ValueError``; readers turn that into an ``InputError`` with the file and the line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

SpanSeverity = Literal["minor", "major", "undecided"]
AnnotationKind = Literal["real", "attention check", "filler", "tutorial"]

SPAN_SEVERITIES: tuple[SpanSeverity, ...] = get_args(SpanSeverity)
ANNOTATION_KINDS: tuple[AnnotationKind, ...] = get_args(AnnotationKind)

SEVERITY_WEIGHTS: dict[SpanSeverity, float] = {"minor": 1.0, "major": 5.0, "undecided": 0.0}
"""Penalty of one error by its severity (Freitag et al. 2021)."""
PUNCTUATION = "Punctuation"
PUNCTUATION_WEIGHT = 0.1
"""Penalty of an error of punctuation; the published scores use it for major ones as well."""


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """One marked error: a non-empty half-open stretch ``[start, end)``, or an omission (both ``None``).

    ``category`` is the MQM type from the most general part on, e.g. ``("Accuracy", "Mistranslation")``; empty
    where errors are not typed (ESA).
    """

    start: int | None
    end: int | None
    severity: SpanSeverity
    category: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.severity not in SPAN_SEVERITIES:
            raise ValueError(f"severity is {self.severity!r}, it is one of {', '.join(SPAN_SEVERITIES)}")
        if (self.start is None) != (self.end is None):
            raise ValueError("a span has a start and an end, or neither (an omission)")
        if self.start is not None and self.end is not None and not 0 <= self.start < self.end:
            raise ValueError(f"span [{self.start}, {self.end}) does not run forwards from 0 on")

    @property
    def omission(self) -> bool:
        """Whether something is missing from the translation rather than wrong in it."""
        return self.start is None

    @property
    def penalty(self) -> float:
        """Its MQM weight, positive: undecided 0, punctuation 0.1, else by severity."""
        if self.severity != "undecided" and PUNCTUATION in self.category:
            return PUNCTUATION_WEIGHT
        return SEVERITY_WEIGHTS[self.severity]


@dataclass(frozen=True, slots=True)
class Annotation:
    """One saved judgement of one output (``system``'s translation of segment ``line``, counted from 0).

    ``login`` is the account, ``annotator`` the person behind it (the login where that is not known). ``item``
    and ``document_id`` are spelled as in the campaign's file, ``doc`` without its markers. ``score`` is a
    slider from 0 to 100, higher is better, or ``None`` where the protocol has none (MQM). ``text`` is the
    judged translation, ``None`` where it is not known. ``line`` is ``None`` in the tutorial. Times are Unix
    seconds.
    """

    campaign: str
    login: str
    annotator: str
    system: str
    doc: str
    line: int | None
    kind: AnnotationKind
    score: float | None
    spans: tuple[ErrorSpan, ...]
    start_time: float
    end_time: float
    item: int
    document_id: str
    text: str | None = None
    domain: str | None = None

    def __post_init__(self) -> None:
        for name in ("campaign", "login", "annotator", "system", "doc"):
            if not getattr(self, name):
                raise ValueError(f"{name} is empty")
        if self.kind not in ANNOTATION_KINDS:
            raise ValueError(f"kind is {self.kind!r}, it is one of {', '.join(ANNOTATION_KINDS)}")
        if (self.line is None) != (self.kind == "tutorial") or (self.line is not None and self.line < 0):
            raise ValueError(f"line is {self.line} in a row of kind {self.kind}")
        if self.score is not None and not 0.0 <= self.score <= 100.0:
            raise ValueError(f"score is {self.score:g}, it lies between 0 and 100")
        if not (math.isfinite(self.start_time) and self.start_time <= self.end_time < math.inf):
            raise ValueError(f"start_time {self.start_time} is not before end_time {self.end_time}")
        if self.text is not None:
            for span in self.spans:
                if span.end is not None and span.end > len(self.text):
                    raise ValueError(
                        f"span [{span.start}, {span.end}) ends behind the translation, "
                        f"which has {len(self.text)} characters"
                    )

    @property
    def penalty(self) -> float:
        """The summed weights of the errors, uncapped; 0 is best."""
        return sum((span.penalty for span in self.spans), 0.0)

    @property
    def value(self) -> float:
        """The judgement as one number, higher is better: the slider, or minus the penalty without one."""
        return 0.0 - self.penalty if self.score is None else self.score
