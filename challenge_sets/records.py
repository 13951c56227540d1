"""The records that every room speaks in: frozen, and valid from the moment they exist.

Offsets are half-open code-point offsets. Languages are normalised BCP-47 tags. A record that
breaks its own contract raises ``ValueError``; readers turn that into an ``InputError`` with the
file and the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

from challenge_sets.json_fields import integer, mapping, optional_string, string

Kind = Literal["error", "variation", "control"]
Severity = Literal["minor", "major", "critical", "none"]
VettingStatus = Literal["none", "accepted", "rejected"]
Unit = Literal["segment", "document"]
Status = Literal["ok", "truncated", "unparsed", "failed", "not_applicable"]
Side = Literal["original", "perturbed"]

KINDS: tuple[Kind, ...] = get_args(Kind)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
STATUSES: tuple[Status, ...] = get_args(Status)
SIDES: tuple[Side, ...] = get_args(Side)


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier turn of a conversation, in the source language."""

    speaker: str
    text: str
    time: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The turn as a JSON object; ``time`` only where it is known."""
        plain: dict[str, Any] = {"speaker": self.speaker, "text": self.text}
        return plain if self.time is None else plain | {"time": self.time}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Inverse of ``to_json``; ``ValueError`` where a field is missing or no string."""
        return cls(
            string(value, "speaker"),
            string(value, "text"),
            None if value.get("time") is None else string(value, "time"),
        )


@dataclass(frozen=True, slots=True)
class Translation:
    """One system's translation of one item (a source segment in one language pair)."""

    item: str
    system: str
    source: str
    hypothesis: str
    source_lang: str
    target_lang: str
    doc: str
    position: int = 0
    reference: str | None = None
    context: tuple[Turn, ...] = ()
    domain: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.item or not self.system or not self.doc:
            raise ValueError("item, system and doc must not be empty")
        if self.position < 0:
            raise ValueError(f"position is {self.position}, it counts from 0")

    def to_json(self) -> dict[str, Any]:
        """The record as a JSON object, keys in a fixed order."""
        return {
            "item": self.item,
            "doc": self.doc,
            "position": self.position,
            "system": self.system,
            "source": self.source,
            "hypothesis": self.hypothesis,
            "reference": self.reference,
            "context": [turn.to_json() for turn in self.context],
            "source_lang": self.source_lang,
            "target_lang": self.target_lang,
            "domain": self.domain,
            "meta": dict(self.meta),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Inverse of ``to_json``; ``ValueError`` says which field is wrong."""
        return cls(
            item=string(value, "item"),
            system=string(value, "system"),
            source=string(value, "source"),
            hypothesis=string(value, "hypothesis"),
            source_lang=string(value, "source_lang"),
            target_lang=string(value, "target_lang"),
            doc=string(value, "doc"),
            position=integer(value, "position"),
            reference=optional_string(value, "reference"),
            context=tuple(Turn.from_json(turn) for turn in value.get("context") or ()),
            domain=optional_string(value, "domain"),
            meta=mapping(value, "meta"),
        )


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open stretch ``[start, end)`` of a text, with the text it covers."""

    start: int
    end: int
    text: str

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end or self.end - self.start != len(self.text):
            raise ValueError(f"span [{self.start}, {self.end}) does not fit the text {self.text!r}")

    def check(self, whole: str) -> None:
        """Raise ``ValueError`` unless ``whole[start:end]`` is the span's text."""
        if whole[self.start : self.end] != self.text:
            raise ValueError(f"span [{self.start}, {self.end}) of the text is not {self.text!r}")

    def to_json(self) -> dict[str, Any]:
        """``start``, ``end`` and ``text``."""
        return {"start": self.start, "end": self.end, "text": self.text}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Inverse of ``to_json``."""
        return cls(integer(value, "start"), integer(value, "end"), string(value, "text"))


@dataclass(frozen=True, slots=True)
class Edit:
    """One changed place: the span in the original and the span that replaced it in the copy."""

    original: Span
    perturbed: Span

    def to_json(self) -> dict[str, Any]:
        """Both spans."""
        return {"original": self.original.to_json(), "perturbed": self.perturbed.to_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Inverse of ``to_json``."""
        return cls(Span.from_json(value["original"]), Span.from_json(value["perturbed"]))


@dataclass(frozen=True, slots=True)
class Generator:
    """What made a pair: a rule, an LLM, both, or people (a ready-made set)."""

    name: str
    version: str
    how: Literal["rule", "llm", "hybrid", "given"]
    seed: int | None = None
    model: str | None = None

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return {
            "name": self.name,
            "version": self.version,
            "how": self.how,
            "seed": self.seed,
            "model": self.model,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Inverse of ``to_json``."""
        how = string(value, "how")
        if how not in ("rule", "llm", "hybrid", "given"):
            raise ValueError(f"generator.how is {how!r}")
        seed = value.get("seed")
        return cls(
            string(value, "name"),
            string(value, "version"),
            how,  # type: ignore[arg-type]
            None if seed is None else integer(value, "seed"),
            optional_string(value, "model"),
        )


@dataclass(frozen=True, slots=True)
class Vetting:
    """What a person said of the pair."""

    status: VettingStatus = "none"
    by: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Both fields."""
        return {"status": self.status, "by": self.by}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Inverse of ``to_json``."""
        status = string(value, "status")
        if status not in get_args(VettingStatus):
            raise ValueError(f"vetting.status is {status!r}")
        return cls(status, optional_string(value, "by"))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Pair:
    """A translation and a copy of it with exactly one targeted edit (or, for a control, none).

    The texts are those of the translation ``(item, system)``; outside the edits they are equal.
    A control may be longer or unrelated; its edits then cover what differs.
    """

    pair: str
    item: str
    system: str
    category: str
    kind: Kind
    original: str
    perturbed: str
    edits: tuple[Edit, ...]
    severity: Severity
    generator: Generator
    vetting: Vetting = Vetting()

    def __post_init__(self) -> None:
        if not (self.pair and self.item and self.system and self.category):
            raise ValueError("pair, item, system and category must not be empty")
        if self.kind not in KINDS:
            raise ValueError(f"kind is {self.kind!r}, it is one of {', '.join(KINDS)}")
        if self.severity not in SEVERITIES:
            raise ValueError(f"severity is {self.severity!r}, it is one of {', '.join(SEVERITIES)}")
        if self.kind != "control" and self.original == self.perturbed:
            raise ValueError("original and perturbed are the same text")
        self._check_edits()

    def _check_edits(self) -> None:
        here = there = 0
        for edit in self.edits:
            edit.original.check(self.original)
            edit.perturbed.check(self.perturbed)
            kept = self.original[here : edit.original.start]
            if kept != self.perturbed[there : edit.perturbed.start]:
                raise ValueError("the texts differ outside the edits, or the edits are out of order")
            here, there = edit.original.end, edit.perturbed.end
        if self.original[here:] != self.perturbed[there:]:
            raise ValueError("the texts differ outside the edits")

    def to_json(self) -> dict[str, Any]:
        """The record as a JSON object, keys in a fixed order."""
        return {
            "pair": self.pair,
            "item": self.item,
            "system": self.system,
            "category": self.category,
            "kind": self.kind,
            "severity": self.severity,
            "original": self.original,
            "perturbed": self.perturbed,
            "edits": [edit.to_json() for edit in self.edits],
            "generator": self.generator.to_json(),
            "vetting": self.vetting.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Inverse of ``to_json``; ``ValueError`` says which field is wrong."""
        return cls(
            pair=string(value, "pair"),
            item=string(value, "item"),
            system=string(value, "system"),
            category=string(value, "category"),
            kind=string(value, "kind"),  # type: ignore[arg-type]
            original=string(value, "original"),
            perturbed=string(value, "perturbed"),
            edits=tuple(Edit.from_json(edit) for edit in value["edits"]),
            severity=string(value, "severity"),  # type: ignore[arg-type]
            generator=Generator.from_json(mapping(value, "generator")),
            vetting=Vetting.from_json(value.get("vetting") or {"status": "none"}),
        )


BLIND = "blind by construction"
"""How the reason of a score starts that the metric could not have told from the pair's other side."""

SCORE_COLUMNS = (
    "metric",
    "signature",
    "unit",
    "pair",
    "side",
    "item",
    "system",
    "doc",
    "condition",
    "value",
    "raw",
    "status",
    "reason",
)
"""Columns of ``scores.csv``, one row a score."""


@dataclass(frozen=True, slots=True)
class Score:
    """One metric's answer for one text. ``value``: higher is better, always; ``raw``: as the metric gave it.

    A missing score is missing: ``value`` is ``None`` unless ``status`` is ``ok``, and ``reason`` says why.
    With ``status`` ``ok``, a ``reason`` starting with ``BLIND`` says that the metric
    cannot tell this side of the pair from the other by construction.
    """

    metric: str
    signature: str
    unit: Unit
    value: float | None
    raw: float | None
    status: Status
    reason: str = ""
    pair: str = ""
    side: Side | Literal[""] = ""
    item: str = ""
    system: str = ""
    doc: str = ""
    condition: str = ""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status is {self.status!r}, it is one of {', '.join(STATUSES)}")
        if (self.value is not None) != (self.status == "ok"):
            raise ValueError(f"status {self.status} with value {self.value}")
