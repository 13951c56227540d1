"""Published checkpoints: what they are, what they take, and what is needed to run them.

Numbers of weights and sizes are those of the papers and model pages, not measured here. Memory is that of the
weights alone in single precision (4 bytes a weight); half precision takes half, and loading COMET checkpoints
takes up to twice as much for a moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Family = Literal["comet", "metricx-24", "metricx-23"]

_APACHE = "Apache-2.0"
_NON_COMMERCIAL = "CC-BY-NC-SA-4.0"


@dataclass(frozen=True, slots=True)
class Card:
    """A checkpoint. ``parameters`` counts weights, ``limit`` tokens (of one part for the regression COMETs).

    ``tokenizer`` is the hub id whose tokenizer a MetricX was trained with; a COMET names its own. What is not
    known of a checkpoint is ``None``.
    """

    checkpoint: str
    family: Family
    tokenizer: str | None
    citation: str
    parameters: int | None = None
    licence: str | None = None
    gated: bool = False
    limit: int | None = None

    @property
    def memory_gb(self) -> float | None:
        """Gigabytes (10^9 bytes) of the weights in single precision."""
        return None if self.parameters is None else self.parameters * 4 / 1e9


_COMET22 = "Rei et al. 2022a"
_KIWI22 = "Rei et al. 2022b"
_KIWI23 = "Rei et al. 2023"
_XCOMET = "Guerreiro et al. 2024"
_METRICX24 = "Juraska et al. 2024"
_METRICX23 = "Juraska et al. 2023"


def _metricx(checkpoint: str, size: str, parameters: int) -> Card:
    newer = "metricx-24" in checkpoint
    return Card(
        f"google/{checkpoint}",
        "metricx-24" if newer else "metricx-23",
        f"google/mt5-{size}",
        _METRICX24 if newer else _METRICX23,
        parameters,
        _APACHE,
        limit=METRICX_LIMITS["metricx-24" if newer else "metricx-23"],
    )


METRICX_LIMITS: dict[Family, int] = {"metricx-24": 1536, "metricx-23": 1024}
"""Tokens that the models were trained and published with, the end mark included."""

CARDS: dict[str, Card] = {
    card.checkpoint: card
    for card in (
        Card("Unbabel/wmt22-comet-da", "comet", None, _COMET22, 581_000_000, _APACHE, limit=510),
        Card("Unbabel/wmt22-cometkiwi-da", "comet", None, _KIWI22, 565_000_000, _NON_COMMERCIAL, True, 512),
        Card(
            "Unbabel/wmt23-cometkiwi-da-xl",
            "comet",
            None,
            _KIWI23,
            3_500_000_000,
            _NON_COMMERCIAL,
            True,
            512,
        ),
        Card(
            "Unbabel/wmt23-cometkiwi-da-xxl",
            "comet",
            None,
            _KIWI23,
            10_700_000_000,
            _NON_COMMERCIAL,
            True,
            512,
        ),
        Card("Unbabel/XCOMET-XL", "comet", None, _XCOMET, 3_500_000_000, _NON_COMMERCIAL, True, 512),
        Card("Unbabel/XCOMET-XXL", "comet", None, _XCOMET, 10_700_000_000, _NON_COMMERCIAL, True, 512),
        _metricx("metricx-24-hybrid-large-v2p6", "large", 1_230_000_000),
        _metricx("metricx-24-hybrid-xl-v2p6", "xl", 3_740_000_000),
        _metricx("metricx-24-hybrid-xxl-v2p6", "xxl", 12_900_000_000),
        _metricx("metricx-23-large-v2p0", "large", 1_230_000_000),
        _metricx("metricx-23-xl-v2p0", "xl", 3_740_000_000),
        _metricx("metricx-23-xxl-v2p0", "xxl", 12_900_000_000),
        _metricx("metricx-23-qe-large-v2p0", "large", 1_230_000_000),
        _metricx("metricx-23-qe-xl-v2p0", "xl", 3_740_000_000),
        _metricx("metricx-23-qe-xxl-v2p0", "xxl", 12_900_000_000),
    )
}
"""Published checkpoints by hub id."""

GATED = frozenset(card.checkpoint for card in CARDS.values() if card.gated)
KNOWN = tuple(CARDS)


def card_of(checkpoint: str, family: Literal["comet", "metricx"]) -> Card:
    """The card of a checkpoint, published or not. A MetricX of 2023 is told by its name."""
    if checkpoint in CARDS:
        return CARDS[checkpoint]
    if family == "comet":
        return Card(checkpoint, "comet", None, "")
    generation: Family = "metricx-23" if "metricx-23" in checkpoint.lower() else "metricx-24"
    return Card(checkpoint, generation, None, "", limit=METRICX_LIMITS[generation])
