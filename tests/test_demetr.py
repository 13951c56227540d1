"""The three steps on DEMETR, set beside what sacrebleu alone gives, and beside the table of the README."""

import json
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import sacrebleu

ROOT = Path(__file__).parents[1]
Cells = dict[tuple[str, str], dict[str, Any]]
pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def tables(
    data: Path, tmp_path_factory: pytest.TempPathFactory, command: Callable[..., CompletedProcess[str]]
) -> dict[str, Cells]:
    """Cells by category and metric, through the three commands, under both standardisations."""
    out = tmp_path_factory.mktemp("demetr")
    made, scores = ("--set", out / "set"), ("--scores", out / "scores")
    command("perturb", "build", "--format", "demetr", "--input", data / "demetr", "--out", out / "set")
    command("metrics", "score", *made, "--metrics", "bleu,chrf", "--out", out / "scores")
    found = {}
    for method in ("scale", "zscore"):
        options = ("--standardize", method, "--out", out / method, "--json")
        printed = command("analysis", "sensitivity", *made, *scores, *options).stdout
        found[method] = {(cell["category"], cell["metric"]): cell for cell in json.loads(printed)["cells"]}
    return found


@pytest.fixture(scope="module")
def cells(tables: dict[str, Cells]) -> Cells:
    return tables["scale"]


@cache
def bleu(hypothesis: str, reference: str) -> float:
    return sacrebleu.sentence_bleu(hypothesis, [reference], use_effective_order=True).score


@cache
def chrf(hypothesis: str, reference: str) -> float:
    return sacrebleu.sentence_chrf(hypothesis, [reference]).score


@pytest.mark.parametrize(("name", "metric"), [("bleu", bleu), ("chrf", chrf)])
def test_detection_is_what_sacrebleu_gives(
    cells: Cells, data: Path, name: str, metric: Callable[[str, str], float]
) -> None:
    paths = sorted((data / "demetr").glob("*.json"))
    assert len(paths) == 10
    for path in paths:
        wins = ties = losses = 0
        total = 0.0
        for row in json.loads(path.read_text(encoding="utf-8")):
            if not row["pert_check"]:
                continue
            good, bad, reference = (
                unicodedata.normalize("NFC", row[field]) for field in ("mt_sent", "pert_sent", "eng_sent")
            )
            delta = metric(good, reference) - metric(bad, reference)
            total += delta
            wins += delta > 1e-9
            losses += delta < -1e-9
            ties += abs(delta) <= 1e-9
        cell = cells[path.stem, name]
        assert (cell["wins"], cell["ties"], cell["losses"]) == (wins, ties, losses), path.stem
        assert cell["n"] == wins + ties + losses
        assert cell["win_share"] == pytest.approx(wins / cell["n"], abs=1e-12)


def test_the_design_document_is_right_about_omitted_subjects(cells: Cells) -> None:
    """chrF scores the original above the copy in 894 of 979 subject removals."""
    cell = cells["critical_id24_subj_removed", "chrf"]
    assert (cell["wins"], cell["n"]) == (894, 979)


ROWS = {
    "final punctuation removed (minor)": "minor_id28_final_punc_removed",
    "all lower case (minor)": "minor_id31_full_lower",
    "tense changed (major)": "major_id17_tense",
    "gender changed (critical)": "critical_id11_gender",
    "head noun of the subject removed (critical)": "critical_id24_subj_removed",
    "noun removed (critical)": "critical_id23_noun_removed",
    "named entity replaced (critical)": "critical_id9_ne_replaced",
    "words shuffled (critical)": "critical_id20_shuffled",
}


def test_the_readme_shows_what_the_toolkit_prints(cells: Cells) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for title, category in ROWS.items():
        shown = [title, str(cells[category, "bleu"]["n"])]
        for metric in ("bleu", "chrf"):
            cell = cells[category, metric]
            shown += [f"{cell['mean']:.2f}", f"{100 * cell['win_share']:.0f} %"]
        assert f"| {' | '.join(shown)} |" in readme
    assert all(
        cells[category, metric]["verdict"] == "detected"
        for category in ROWS.values()
        for metric in ("bleu", "chrf")
    )


def signed(cell: dict[str, Any]) -> str:
    return f"{cell['mean']:.2f}{cell['stars']}".replace("-", "−")


def test_the_documentation_shows_what_centring_does(tables: dict[str, Cells]) -> None:
    """12 of 16 verdicts flip: the reason for the default."""
    text = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    flips = 0
    for title, category in ROWS.items():
        shown = [title]
        for metric in ("bleu", "chrf"):
            plain, centred = (tables[method][category, metric] for method in ("scale", "zscore"))
            shown.append(f"{signed(plain)} {plain['verdict']}")
            shown.append(f"{signed(centred)} {plain['verdict_if_centred']}")
            flips += plain["verdict"] != plain["verdict_if_centred"]
        assert f"| {' | '.join(shown)} |" in text
    assert flips == 12
    assert "12 of 16 verdicts flip" in text
    assert "turns 12 of 16 verdicts" in (ROOT / "README.md").read_text(encoding="utf-8").replace("\n", " ")
