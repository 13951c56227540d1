"""What the neural metrics have in common: limits, windows, de-duplication, and answers made of passes."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from challenge_sets import InputError, MissingExtraError
from metrics.base import Metric, Need, extra_available
from metrics.neural.batching import Budget
from metrics.neural.cards import Card
from metrics.neural.devices import TOLERANCE, devices
from metrics.neural.loading import keep_one, release
from metrics.neural.network import Network, Result
from metrics.neural.readers import OVERLAP, Reader
from metrics.neural.spans import merged
from metrics.neural.texts import Alone, InContext, Layout, Pass, Sliding, Texts, WholeDocument
from metrics.requests import Answer, ModelOptions, Reach, Request, Settings

Variant = Literal["both", "ref", "qe"]
"""What stands beside the hypothesis: source and reference, reference alone, source alone."""
Mode = Literal["", "doc-ref", "doc-hyp", "whole", "slide"]

NEEDS_OF: dict[Variant, frozenset[Need]] = {
    "both": frozenset({"source", "reference"}),
    "ref": frozenset({"reference"}),
    "qe": frozenset({"source"}),
}


def layout_of(mode: Mode, options: ModelOptions) -> Layout:
    """How a mode lays texts out."""
    if mode == "whole":
        return WholeDocument()
    if mode == "slide":
        return Sliding(options.window, options.stride)
    if mode == "doc-ref":
        return InContext(options.previous, "ref")
    return InContext(options.previous, "hyp") if mode == "doc-hyp" else Alone()


class NeuralMetric(Metric):
    """A metric that a model computes. Subclasses find its files, make its reader and load it."""

    batch: ClassVar[int] = 256
    extras: ClassVar[Mapping[str, tuple[str, ...]]] = {"neural": ()}
    card: ClassVar[Card]
    variant: ClassVar[Variant | None]
    """``None``: what is usual for the checkpoint, which ``configured`` finds out."""
    mode: ClassVar[Mode] = ""
    scale: ClassVar[float] = 1.0
    """Width of the range of raw scores, in which tolerances are stated."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._options = settings.model
        self._layout = layout_of(self.mode, settings.model)
        if isinstance(self._layout, InContext) and self._options.overlong == "window":
            raise InputError(
                f"{self.name}: a text in its context is not cut into windows",
                hint="take --overlong exclude, or fewer --previous segments",
            )
        self.tie_threshold = TOLERANCE[self._options.precision] * self.scale
        self.limit = self.reader.limit

    @classmethod
    def configured(cls, model: ModelOptions) -> type[Self]:
        """The class itself; ``MissingExtraError``, before any file is looked for, without the extra."""
        if not extra_available("neural"):
            raise MissingExtraError(f"the metric {cls.name}", "neural")
        return cls

    @classmethod
    def model_card(cls) -> dict[str, Any] | None:
        """The card of the checkpoint."""
        card = cls.card
        return {
            "checkpoint": card.checkpoint,
            "parameters": card.parameters,
            "memory_gb": card.memory_gb,
            "licence": card.licence,
            "gated": card.gated,
        }

    @classmethod
    def as_variant(cls, variant: Variant) -> type[Self]:
        """The same metric with other inputs."""
        document = cls.needs & {"document"}
        return type(cls.__name__, (cls,), {"variant": variant, "needs": NEEDS_OF[variant] | document})

    @property
    @abstractmethod
    def reader(self) -> Reader:
        """The tokenizer with the layout of the model's input."""

    @abstractmethod
    def load(self, device: str, budget: Budget) -> Network:
        """The model, on a device."""

    @abstractmethod
    def model_parts(self) -> Mapping[str, str]:
        """Checkpoint, revision, tokenizer and packages, for the signature."""

    def parts(self) -> Mapping[str, str]:
        """The model with its version, what it reads, and how texts are laid out and cut."""
        alone = "ref, source empty" if self.no_source() else "ref"
        named = {"both": "src+ref", "ref": alone, "qe": "src"}
        overlong = f"window, overlap {OVERLAP:g}" if self._options.overlong == "window" else "exclude"
        return {
            **self.model_parts(),
            "inputs": named[self.variant or "both"],
            **self._layout.parts(),
            "precision": self._options.precision,
            "overlong": overlong,
        }

    @property
    def reach(self) -> Reach | None:
        """What of the document the layout takes."""
        return self._layout.reach(self._fields)

    def devices(self) -> tuple[str, ...]:
        """The devices asked for; ``InputError`` for one that is not there."""
        return devices(self._options.device)

    @cached_property
    def model_key(self) -> str:
        """Everything that tells two models, or two ways to read for one, apart."""
        return "|".join((*self.model_parts().values(), self._options.precision))

    def close(self) -> None:
        """Drop the model."""
        release()

    @cached_property
    def _fields(self) -> tuple[str, ...]:
        return tuple(name for name in self.inputs() if name in ("hypothesis", "source", "reference"))

    @cached_property
    def _budget(self) -> Budget:
        return Budget(self._options.batch_tokens, self.devices()[0])

    @property
    def _network(self) -> Network:
        device = self.devices()[0]
        network: Network = keep_one((self.model_key, device), lambda: self.load(device, self._budget))
        return network

    def screen(self, requests: Sequence[Request]) -> list[Answer | None]:
        """The requests that get no score: beyond the limit, or without a reference that is needed."""
        prepared = map(self._prepare, requests)
        return [each if isinstance(each, Answer) else None for each in prepared]

    def _prepare(self, request: Request) -> list[Pass] | Answer:
        if "reference" in self.needs and not self._has_references(request):
            return Answer(None, "not_applicable", "no reference")
        passes = []
        for each in self._passes(request):
            lengths = self.reader.lengths(each.texts)
            if lengths.fits:
                passes.append(each)
            elif self._options.overlong != "window":
                return Answer(None, "truncated", lengths.reason())
            else:
                try:
                    passes += self.reader.windows(each)
                except ValueError as error:
                    return Answer(None, "truncated", f"{lengths.reason()}; {error}")
        return passes

    def _passes(self, request: Request) -> list[Pass]:
        passes = self._layout.passes(request, self._fields)
        if self.variant != "ref":
            return passes
        return [each._replace(texts=each.texts._replace(source=self.no_source())) for each in passes]

    def _has_references(self, request: Request) -> bool:
        references = [segment.reference for segment in request.document]
        if self._layout.unit == "segment":
            references.append(request.reference)
        return all(reference and reference.strip() for reference in references)

    @abstractmethod
    def no_source(self) -> tuple[str, ...]:
        """What the model gets for a source where only the reference is read: an empty text, or no part."""

    def score(self, requests: Sequence[Request]) -> list[Answer]:
        """One answer a request, in order; equal requests have equal answers."""
        found: dict[int, Answer] = {}
        for part in self.score_in_turn(requests):
            found |= part
        return [found[place] for place in range(len(requests))]

    def score_in_turn(self, requests: Sequence[Request]) -> Iterator[dict[int, Answer]]:
        """What needs no model at once, then every request when its last pass is done."""
        prepared = [self._prepare(request) for request in requests]
        refused = {place: each for place, each in enumerate(prepared) if isinstance(each, Answer)}
        if refused:
            yield refused
        passes = {place: each for place, each in enumerate(prepared) if not isinstance(each, Answer)}
        takers: dict[Texts, list[int]] = {}
        for place, each in passes.items():
            for texts in dict.fromkeys(one.texts for one in each):
                takers.setdefault(texts, []).append(place)
        if not takers:
            return
        distinct = list(takers)
        waiting = {place: len({one.texts for one in each}) for place, each in passes.items()}
        results: dict[Texts, Result] = {}
        for part in self._network.results(distinct):
            complete: dict[int, Answer] = {}
            for number, result in part.items():
                results[distinct[number]] = result
                for place in takers[distinct[number]]:
                    waiting[place] -= 1
                    if not waiting[place]:
                        complete[place] = self._answer(requests[place], passes[place], results)
            if complete:
                yield complete

    def _answer(self, request: Request, passes: Sequence[Pass], results: Mapping[Texts, Result]) -> Answer:
        raws = [results[each.texts].raw for each in passes]
        if not all(map(math.isfinite, raws)):
            return Answer(None, "failed", "the model gave no finite number")
        everything = self._layout.everything(request, self._fields)
        errors = None
        if any(results[each.texts].errors is not None for each in passes):
            marked = [(error, each.offset) for each in passes for error in results[each.texts].errors or ()]
            errors = merged(everything.hypothesis[-1], marked)
        return Answer(
            math.fsum(raw * each.share for raw, each in zip(raws, passes, strict=True)),
            errors=errors,
            unknown=self.reader.unknown(everything),
        )

    def view(self, request: Request) -> Hashable:
        """The tokens of the hypothesis, pass by pass."""
        return tuple(self.reader.view(each.texts) for each in self._passes(request))
