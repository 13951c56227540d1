"""Names of neural metrics, and what the documentation says of them; no model is needed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from challenge_sets import InputError, MissingExtraError
from metrics import METRICS, ModelOptions
from metrics.neural.cards import CARDS, METRICX_LIMITS
from metrics.neural.named import published

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "neural.md").read_text(encoding="utf-8")

# Weights of the encoders without embeddings, from the layers of their papers: XLM-R has 12 x d x d a layer,
# mT5 4 x d x d for attention and 3 x d x d_ff.
XLMR = {"large": 24 * 12 * 1024**2, "xl": 36 * 12 * 2560**2, "xxl": 48 * 12 * 4096**2}
MT5 = {
    "large": 24 * (4 * 1024 * 1024 + 3 * 1024 * 2816),
    "xl": 24 * (4 * 2048 * 2048 + 3 * 2048 * 5120),
    "xxl": 24 * (4 * 4096 * 4096 + 3 * 4096 * 10240),
}
TOKENS = 40
SUSTAINED = (12e12, 125e12, 36e12, 0.5e12)


def work(name: str) -> float:
    """FLOP of a text by the formula of the documentation."""
    if name.startswith("metricx"):
        return 2 * MT5[name.split("-")[1]] * (3 * TOKENS + 15)
    if name.startswith("comet22"):
        # Five variants share what stands beside them.
        return 2 * XLMR["large"] * (TOKENS + 2) * (1 + 2 / 5)
    two, three = 2 * TOKENS + 4, 3 * TOKENS + 6
    size = "xxl" if "xxl" in name else "xl" if "xl" in name else "large"
    alone = "kiwi" in name or name.endswith("-qe")
    return 2 * XLMR[size] * (two if alone else 2 * two + three)


def test_the_table_of_costs_is_its_formula() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in DOCS[DOCS.index("| metric | memory") :].splitlines()[2:]
        if line.startswith("|")
    ]
    named = {name: row for row in rows for name in row[0].split(", ")}
    assert len(named) == 12
    for name, row in named.items():
        memory = METRICS[name].model_card()["memory_gb"]  # type: ignore[index]
        assert float(row[1].removesuffix(" GB")) == pytest.approx(memory, rel=0.03)
        assert float(row[2]) == pytest.approx(work(name) / 1e9, rel=0.02)
        for cell, rate in zip(row[3:], SUSTAINED, strict=True):
            assert float(cell) == pytest.approx(1e5 * work(name) / rate / 3600, rel=0.06, abs=0.006)


def test_every_name_is_in_the_table_of_names() -> None:
    rows = [line.split("|")[1:3] for line in DOCS.splitlines() if line.startswith("| `")]
    described = " ".join(" ".join(row) for row in rows)
    for name, checkpoint, _ in published():
        family = re.match(r"[a-z]+\d*", name)
        assert family is not None and f"`{family.group()}" in described
        assert name in METRICS and METRICS[name].card.checkpoint == checkpoint  # type: ignore[attr-defined]


def test_what_each_reads() -> None:
    needs = {name: set(METRICS[name].needs) for name, _, _ in published()}
    for name, found in needs.items():
        if name.endswith("-qe") or "kiwi" in name:
            assert found == {"source"}
        elif name.endswith("-ref") or name.startswith("metricx23"):
            assert found == {"reference"}
        else:
            assert found == {"source", "reference"}
        assert METRICS[name].higher_is_better == (not name.startswith("metricx"))
    assert METRICS["metricx-qe:some/where"].needs == {"source"}
    assert METRICS["metricx:google/metricx-23-large-v2p0"].needs == {"reference"}
    assert METRICS["metricx:google/metricx-23-qe-large-v2p0"].needs == {"source"}
    assert METRICS["slide:cometkiwi22"].unit == "document"
    assert METRICS["doc-hyp:cometkiwi22"].unit == "segment"


def test_cards() -> None:
    for card in CARDS.values():
        assert card.parameters and card.licence and card.citation
        assert (card.tokenizer is None) == (card.family == "comet")
        assert card.limit == METRICX_LIMITS.get(card.family, card.limit) and card.limit
        assert card.gated == (card.licence == "CC-BY-NC-SA-4.0")


@pytest.mark.parametrize(
    "name", ["slide:bleu", "whole:slide:comet22", "comet:", "metricx-ref:", "doc:comet22"]
)
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(InputError):
        METRICS[name]


def test_listing_loads_nothing_heavy() -> None:
    code = (
        "import sys, metrics.cli; from metrics import METRICS; list(METRICS); METRICS['slide:cometkiwi22'];"
        "print([m for m in ('torch', 'comet', 'transformers', 'huggingface_hub') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "name", ["comet22", "doc-ref:comet22", "comet:some/where", "metricx24-xl", "slide:cometkiwi22"]
)
def test_without_the_extra_one_line_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.neural.metric.extra_available", lambda extra: False)
    with pytest.raises(MissingExtraError, match="needs the optional dependency 'neural'"):
        METRICS[name].configured(ModelOptions())
