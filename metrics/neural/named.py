"""The names of the neural metrics: short ones for published checkpoints, and prefixes for everything else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from challenge_sets import InputError
from metrics.base import Metric, Need
from metrics.neural.cards import CARDS, Card, card_of
from metrics.neural.families import CometMetric, MetricXMetric
from metrics.neural.metric import NEEDS_OF, Mode, NeuralMetric, Variant, layout_of
from metrics.registry import METRICS
from metrics.requests import ModelOptions

_INPUTS: Mapping[Variant, str] = {
    "both": "source and reference",
    "ref": "the reference, an empty source",
    "qe": "the source, no reference",
}
_SIZES = ("large", "xl", "xxl")


def published() -> Iterator[tuple[str, str, Variant]]:
    """Name, checkpoint and inputs of every metric with a short name."""
    yield "comet22", "Unbabel/wmt22-comet-da", "both"
    yield "comet22-ref", "Unbabel/wmt22-comet-da", "ref"
    yield "cometkiwi22", "Unbabel/wmt22-cometkiwi-da", "qe"
    yield "cometkiwi23-xl", "Unbabel/wmt23-cometkiwi-da-xl", "qe"
    yield "cometkiwi23-xxl", "Unbabel/wmt23-cometkiwi-da-xxl", "qe"
    for size in ("XL", "XXL"):
        yield f"xcomet-{size.lower()}", f"Unbabel/XCOMET-{size}", "both"
        yield f"xcomet-{size.lower()}-qe", f"Unbabel/XCOMET-{size}", "qe"
    for size in _SIZES:
        checkpoint = f"google/metricx-24-hybrid-{size}-v2p6"
        yield f"metricx24-{size}", checkpoint, "both"
        yield f"metricx24-{size}-ref", checkpoint, "ref"
        yield f"metricx24-{size}-qe", checkpoint, "qe"
    for size in _SIZES:
        yield f"metricx23-{size}", f"google/metricx-23-{size}-v2p0", "ref"
        yield f"metricx23-{size}-qe", f"google/metricx-23-qe-{size}-v2p0", "qe"


def _class(name: str, card: Card, variant: Variant | None, mode: Mode = "") -> type[NeuralMetric]:
    family: type[NeuralMetric] = CometMetric if card.family == "comet" else MetricXMetric
    reads = "source and reference as the checkpoint takes them" if variant is None else _INPUTS[variant]
    needs: frozenset[Need] = NEEDS_OF[variant or "both"] | ({"document"} if mode else frozenset())
    return type(
        name,
        (family,),
        {
            "__doc__": f"{card.checkpoint}, reading {reads}.",
            "__module__": __name__,
            "name": name,
            "card": card,
            "variant": variant,
            "mode": mode,
            "needs": needs,
            "unit": layout_of(mode, ModelOptions()).unit,
            "citation": card.citation,
            "parameters": card.parameters,
            "limit": card.limit,
            "description": f"{card.checkpoint}; reads {reads}",
        },
    )


for _name, _checkpoint, _variant in published():
    METRICS.register(_name)(_class(_name, CARDS[_checkpoint], _variant))


def _checkpoint_family(prefix: str, family: Literal["comet", "metricx"], variant: Variant | None) -> None:
    @METRICS.family(prefix)
    def make(checkpoint: str) -> type[Metric]:
        if not checkpoint:
            raise InputError(f"no checkpoint behind '{prefix}:'", hint="give a hub id or a path")
        card = card_of(checkpoint, family)
        if not card.family.startswith(family):
            raise InputError(
                f"{checkpoint} is no {family}",
                hint=f"for example {card.family.partition('-')[0]}:{checkpoint}",
            )
        chosen = variant
        older: Variant = "qe" if "-qe" in checkpoint.lower() else "ref"
        if chosen is None and family == "metricx":
            chosen = older if card.family == "metricx-23" else "both"
        if card.family == "metricx-23" and checkpoint in CARDS and chosen != older:
            raise InputError(f"{checkpoint} was trained for other inputs", hint=f"metricx:{checkpoint}")
        return _class(f"{prefix}:{checkpoint}", card, chosen)


def _document_family(mode: Mode) -> None:
    @METRICS.family(mode)
    def make(name: str) -> type[Metric]:
        under = METRICS[name]
        if not issubclass(under, NeuralMetric) or under.mode:
            raise InputError(
                f"{mode}: takes a neural metric for single segments, not '{name}'",
                hint=f"for example {mode}:cometkiwi22",
            )
        return _class(f"{mode}:{name}", under.card, under.variant, mode)


_FAMILIES: tuple[Literal["comet", "metricx"], ...] = ("comet", "metricx")
for _family in _FAMILIES:
    _checkpoint_family(_family, _family, None)
    _checkpoint_family(f"{_family}-ref", _family, "ref")
    _checkpoint_family(f"{_family}-qe", _family, "qe")
for _mode in get_args(Mode):
    if _mode:
        _document_family(_mode)
