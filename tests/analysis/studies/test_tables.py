"""``python -m analysis tables``: layouts of both studies, from sets, labels, judgements and campaigns."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def judgements(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People and one metric score six systems in ten documents, alone, in a document and mixed."""
    rng = random.Random(3)
    path = tmp_path_factory.mktemp("judgements") / "judgements.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["metric", "condition", "system", "doc", "segment", "annotator", "score"])
        for system in range(6):
            for doc in range(10):
                for segment in range(3):
                    quality = 60 + 3 * system + rng.gauss(0, 5)
                    for condition in ("DOC", "MIX", "SEG"):
                        unit = (condition, f"s{system}", f"d{doc}", segment)
                        for annotator in rng.sample("abcdef", 3):
                            writer.writerow(["human", *unit, annotator, round(quality + rng.gauss(0, 4))])
                        writer.writerow(["chrF", *unit, "", round(quality / 100 + rng.gauss(0, 0.05), 4)])
    return path


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory, command: Make) -> tuple[Path, Path]:
    """The bundled set with the scores of two metrics and a baseline."""
    out = tmp_path_factory.mktemp("bundled")
    source = ("--format", "jsonl", "--input", "challenge_sets/data/translations.jsonl", "--target-lang", "en")
    command("perturb", "build", *source, "--out", out)
    command("metrics", "score", "--set", out, "--metrics", "bleu,chrf,length", "--out", out / "scores")
    return out, out / "scores"


def headings(path: Path) -> list[str]:
    return re.findall(r"^## (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)


def no_nan(path: Path) -> None:
    """Strict JSON, and no number that is none in the printed tables."""
    json.loads(path.with_suffix(".json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    for suffix in (".md", ".csv", ".tex"):
        assert not re.search(r"\b(nan|inf)\b", path.with_suffix(suffix).read_text(encoding="utf-8"))


def test_the_minimal_pair_study(bundled: tuple[Path, Path], command: Make, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("annotator1,annotator2,category\n" + "valid,valid,typo\nvalid,invalid,typo\n" * 5)
    sources = ("--set", bundled[0], "--scores", bundled[1], "--by", "domain", "--labels", labels)
    out = tmp_path / "out"
    done = command("analysis", "tables", *sources, "--out", out)
    assert done.stdout.split() == [str(out / f"minimal_pairs.{end}") for end in ("md", "csv", "tex", "json")]
    found = headings(out / "minimal_pairs.md")
    document = json.loads((out / "minimal_pairs.json").read_text(encoding="utf-8"))
    levels = list(document["by"]["levels"])
    assert len(levels) > 1
    kinds = ("Sensitivity to errors", "Reaction to acceptable variations", "Baseline controls")
    assert found[:4] == ["Categories", *kinds]
    assert [f"{kinds[0]}: domain {level}" in found for level in levels] == [True] * len(levels)
    assert found[-3:] == ["Metrics", "Agreement of annotators", "Notes"]
    no_nan(out / "minimal_pairs.md")

    # Every printed cell is that of the sensitivity command, as mean (SE).
    plain = command(
        "analysis",
        "sensitivity",
        "--set",
        bundled[0],
        "--scores",
        bundled[1],
        "--out",
        tmp_path / "s",
        "--json",
    )
    assert document["sensitivity"] == json.loads(plain.stdout)
    text = (out / "minimal_pairs.md").read_text(encoding="utf-8")
    for cell in document["sensitivity"]["cells"]:
        if cell["se"] is not None and cell["kind"] == "error":
            printed = f"{cell['mean']:.3f} ({cell['se']:.3f}){cell['stars']}".replace("-", "−")
            assert printed in text
    metrics_by_domain = len(levels) - 1  # Two metrics: (2 - 1) (levels - 1).
    assert document["by"]["interaction"]["lr"]["df"] == metrics_by_domain
    assert document["agreement"]["rows"]


def test_the_mixed_document_study(judgements: Path, command: Make, tmp_path: Path) -> None:
    options = ("--margin", "3,5,7", "--resamples", "200", "--out", tmp_path)
    command("analysis", "tables", "--judgements", judgements, *options)
    found = headings(tmp_path / "mixed_documents.md")
    for expected in (
        "Ranks by human",
        "τ between conditions",
        "Agreement of metrics with human",
        "Every method",
    ):
        assert expected in found
    assert any("Equivalence" in heading for heading in found)
    assert "Krippendorff's alpha" in found and any("SEG" in heading for heading in found)
    no_nan(tmp_path / "mixed_documents.md")
    document = json.loads((tmp_path / "mixed_documents.json").read_text(encoding="utf-8"))
    assert set(document) == {"equivalence", "ranking", "agreement"}
    alone = command("analysis", "ranking", "--table", judgements, "--resamples", "200", "--json")
    assert document["ranking"]["taus"] == json.loads(alone.stdout)["taus"]
    labels = re.findall(r"\\label\{(.*?)\}", (tmp_path / "mixed_documents.tex").read_text(encoding="utf-8"))
    assert len(labels) == len(set(labels)) > 5


@pytest.mark.data
def test_error_counts_of_campaigns(data: Path, command: Make, tmp_path: Path) -> None:
    folder = data / "esa_wmt23_ende"
    campaigns = ("--campaign", f"ESA-1={folder / '240315rc5ESA.scores.csv'}")
    batches = ("--batches", folder / "batches_wmt23_en-de_esa.json")
    command("analysis", "tables", *campaigns, *batches, "--out", tmp_path)
    assert "Errors by condition" in headings(tmp_path / "mixed_documents.md")
    no_nan(tmp_path / "mixed_documents.md")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "nothing to make tables of"),
        (("--set", "x"), "--set and --scores go together"),
        (("--by", "domain", "--labels", "x"), "--by is of a set"),
        (("--judgements", "x"), "--judgements and --margin go together"),
        (("--labels", "x", "--batches", "y"), "they need --campaign"),
        (("--judgements", "x", "--margin", "0"), "a margin is a positive number"),
        (("--labels", "no-such-file.csv"), "no such file"),
    ],
)
def test_wrong_use(options: tuple[str, ...], message: str, command: Make, tmp_path: Path) -> None:
    done = command("analysis", "tables", *options, "--out", tmp_path / "out", code=2)
    assert message in done.stderr
    assert not (tmp_path / "out").exists()
