"""What a metric is asked and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from challenge_sets import InputError, MarkedError, Status, Turn
from challenge_sets.languages import normalise_language
from metrics.judges.options import JudgeOptions

GIVEN = "given"
"""Reference kind: the reference that the set holds."""

Precision = Literal["fp32", "bf16", "fp16"]
Overlong = Literal["exclude", "window", "error"]

WHOLE = -1
"""``Reach.previous`` of a metric that reads every segment of the document."""


class Segment(NamedTuple):
    """One segment of a document, as a metric that reads documents sees it. Fields not read are empty."""

    hypothesis: str
    source: str = ""
    reference: str | None = None


class Reach(NamedTuple):
    """What of a document reaches a metric besides the segment that it scores.

    ``previous`` counts the segments right before it (``WHOLE``: the document is scored as one), ``fields``
    names what is read of them.
    """

    previous: int
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One text to score with what belongs to it. The runner leaves out whatever a metric does not use.

    ``document`` holds, oldest first, the segments before this one; for a metric that scores documents it
    holds every segment, and the fields of the single text are empty.
    """

    hypothesis: str
    source: str = ""
    reference: str | None = None
    context: tuple[Turn, ...] = ()
    source_lang: str = ""
    target_lang: str = ""
    document: tuple[Segment, ...] = ()

    def __reduce__(self) -> tuple[type[Request], tuple[object, ...]]:
        # Requests travel between processes by the thousand; the generated pickling of dataclasses is slow.
        return Request, (
            self.hypothesis,
            self.source,
            self.reference,
            self.context,
            self.source_lang,
            self.target_lang,
            self.document,
        )


class Details(NamedTuple):
    """What an answer says besides the number; see ``Answer``."""

    errors: tuple[MarkedError, ...] | None = None
    unknown: int = 0
    labels: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a metric says of one request: ``raw`` as the metric gave it, or none and why.

    ``errors`` are what it marked in the hypothesis (in the segments joined by one space, for a document);
    ``None`` where it marks none by design. ``unknown`` counts tokens that its vocabulary does not hold.
    ``labels`` are what else it said, by name.
    """

    raw: float | None
    status: Status = "ok"
    reason: str = ""
    errors: tuple[MarkedError, ...] | None = None
    unknown: int = 0
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def detailed(self) -> bool:
        """Whether it says more than a number."""
        return self.errors is not None or bool(self.unknown) or bool(self.labels)

    def __post_init__(self) -> None:
        if (self.raw is not None) != (self.status == "ok"):
            raise ValueError(f"status {self.status} with score {self.raw}")
        if self.raw is not None and self.raw != self.raw:
            raise ValueError("a score that is not a number is no score: say 'failed' and why")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How models are run; other metrics take no notice. Raises ``InputError`` for a value that is none.

    ``device`` is ``auto``, ``cpu``, ``mps``, ``cuda`` (all of them), ``cuda:N`` or several separated by
    commas; ``batch_tokens`` counts padded tokens a batch (``None``: by device); ``previous`` is how many
    segments a context-prepended metric sees, ``window`` and ``stride`` are those of SLIDE, in segments.
    """

    device: str = "auto"
    precision: Precision = "fp32"
    revision: str | None = None
    batch_tokens: int | None = None
    overlong: Overlong = "exclude"
    previous: int = 2
    window: int = 6
    stride: int = 6
    download: bool = True
    """Whether a checkpoint that is not in the cache may be downloaded."""

    def __post_init__(self) -> None:
        for name, allowed in (("precision", get_args(Precision)), ("overlong", get_args(Overlong))):
            value = getattr(self, name)
            if value not in allowed:
                raise InputError(f"{name} is '{value}', it is one of {', '.join(allowed)}")
        for name in ("batch_tokens", "previous", "window", "stride"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} is {value}, it is at least 1")
        if self.stride > self.window:
            raise InputError(
                f"a stride of {self.stride} skips segments between windows of {self.window}",
                hint="the stride is at most the window",
            )


@dataclass(frozen=True, slots=True)
class Settings:
    """What one metric object is made for: a target language, a kind of reference, a way to run models.

    ``judge`` says which model judges, and how; ``None`` where no metric is a judge.

    ``pseudo_reference`` names the system whose translations stand in for the reference; ``None`` means
    the reference that the set holds. Raises ``InputError`` for an unknown language.
    """

    target_lang: str
    pseudo_reference: str | None = None
    model: ModelOptions = field(default_factory=ModelOptions)
    judge: JudgeOptions | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "target_lang", normalise_language(self.target_lang))

    @property
    def reference(self) -> str:
        """The reference kind as the signature spells it: ``given`` or ``pseudo=SYSTEM``."""
        return GIVEN if self.pseudo_reference is None else f"pseudo={self.pseudo_reference}"
