"""``python -m analysis sensitivity`` from files to files."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from challenge_sets import BLIND

ROOT = Path(__file__).parents[3]
Make = Callable[..., Any]
Sample = tuple[list[Any], list[Any]]
SUFFIXES = ("md", "csv", "tex", "json")


def arguments(paths: tuple[Path, Path], out: Path, *more: str) -> tuple[Any, ...]:
    return ("analysis", "sensitivity", "--set", paths[0], "--scores", paths[1], "--out", out, *more)


def test_writes_four_tables_and_prints_where(
    write: Make, sample: Sample, command: Make, tmp_path: Path
) -> None:
    rows, metrics = sample
    rows[0] = replace(rows[0], scores={0: "truncated", 1: BLIND, 2: (1.0, 0.5)})
    metrics[1] = replace(metrics[1], pseudo_reference="arm_b")
    out = tmp_path / "tables"
    done = command(*arguments(write(rows, metrics), out))
    assert done.stdout.splitlines()[-4:] == [str(out / f"sensitivity.{suffix}") for suffix in SUFFIXES]
    assert sorted(path.name for path in out.iterdir()) == sorted(f"sensitivity.{s}" for s in SUFFIXES)

    table = json.loads((out / "sensitivity.json").read_text(encoding="utf-8"))
    cells = {(cell["label"], cell["category"]): cell for cell in table["cells"]}
    negation = cells["chrf", "negation"]
    assert (negation["n"], negation["missing"], negation["missing_reasons"]) == (39, 1, {"truncated": 1})
    assert (cells["comet", "negation"]["n"], cells["comet", "negation"]["blind"]) == (39, 1)
    assert table["configuration"]["standardize"] == "scale"
    assert table["configuration"]["margin_sd"] == 0.2
    assert table["configuration"]["pseudo_references"] == ["arm_b"]

    with (out / "sensitivity.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert len(lines) == len(table["cells"]) == 18
    for line, cell in zip(lines, table["cells"], strict=True):
        assert line["mean"] == ("" if cell["mean"] is None else repr(cell["mean"]))
        assert int(line["pairs"]) == int(line["n"]) + int(line["missing"]) + int(line["blind"]) == 40

    text = (out / "sensitivity.md").read_text(encoding="utf-8")
    captions = [part.strip().splitlines()[2] for part in text.split("\n## ")[1:-1]]
    assert len(captions) == 12
    assert all("Pseudo-reference: the output of arm_b stands in" in caption for caption in captions)
    assert text.index("## Errors\n") < text.index("## Errors: baselines, not metrics\n")
    assert "random" not in text[text.index("## Errors\n") : text.index("## Errors: baselines")]
    assert r"\cellcolor{" in (out / "sensitivity.tex").read_text(encoding="utf-8")
    for suffix in SUFFIXES:
        whole = (out / f"sensitivity.{suffix}").read_text(encoding="utf-8")
        assert not {"nan", "inf"} & set(whole.lower().replace(",", " ").replace("|", " ").split())


def test_json_alone_on_stdout(write: Make, sample: Sample, command: Make, tmp_path: Path) -> None:
    out = tmp_path / "tables"
    done = command(*arguments(write(*sample), out, "--json", "--standardize", "raw", "--margin", "2.5"))
    table = json.loads(done.stdout)
    assert table == json.loads((out / "sensitivity.json").read_text(encoding="utf-8"))
    assert (table["configuration"]["margin"], table["configuration"]["margin_sd"]) == (2.5, None)
    assert {cell["margin"] for cell in table["cells"] if cell["kind"] == "variation"} == {2.5}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--margin", "1"), "--margin is in metric units"),
        (("--margin-sd", "0"), "an equivalence margin is a positive number"),
        (("--standardize", "centred"), "one of: scale, zscore, raw"),
        (("--alpha", "1"), "alpha is 1"),
    ],
)
def test_wrong_use_ends_with_2_and_leaves_nothing(
    write: Make, sample: Sample, command: Make, tmp_path: Path, more: tuple[str, ...], message: str
) -> None:
    out = tmp_path / "tables"
    assert message in command(*arguments(write(*sample), out, *more), code=2).stderr
    assert not out.exists()


def test_a_set_built_anew_needs_new_scores(
    write: Make, sample: Sample, command: Make, tmp_path: Path
) -> None:
    rows, metrics = sample
    old = write(rows, metrics, name="old")
    new = write(rows[1:], metrics, name="new")
    done = command(*arguments((new[0], old[1]), tmp_path / "tables"), code=2)
    assert "score it again" in done.stderr
    assert not (tmp_path / "tables").exists()


def test_captions_warn_of_centring(write: Make, sample: Sample, command: Make, tmp_path: Path) -> None:
    done = command(*arguments(write(*sample), tmp_path / "tables", "--standardize", "zscore"))
    assert "centred on each metric's own mean delta" in done.stdout


def test_a_terminal_without_the_marks_is_no_error(write: Make, sample: Sample, tmp_path: Path) -> None:
    words = [*arguments(write(*sample, name="한국"), tmp_path / "tables")]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}

    def stdout(*more: str) -> bytes:
        full = [sys.executable, "-m", *map(str, words), *more]
        return subprocess.run(full, cwd=ROOT, env=environment, capture_output=True, check=True).stdout

    assert re.search(rb"^negation +\d+ +\d\.\d\d\*\*\* \?", stdout(), flags=re.M)
    assert json.loads(stdout("--json"))["configuration"]["set"] == "한국"


def test_help_imports_no_statistics() -> None:
    code = (
        "import sys, analysis.cli; "
        "sys.exit(sorted({'numpy', 'scipy', 'pandas', 'statsmodels'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_deltas_for_other_software(write: Make, sample: Sample, command: Make, tmp_path: Path) -> None:
    paths = write(*sample)
    long = tmp_path / "deltas.csv"
    done = command(*arguments(paths, tmp_path / "tables", "--standardize", "raw", "--json", "--deltas", long))
    cells = {(cell["label"], cell["category"]): cell for cell in json.loads(done.stdout)["cells"]}
    with long.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["segment", "condition", "metric", "delta", "kind"]
    for (label, category), cell in cells.items():
        own = [row for row in rows if (row["metric"], row["condition"]) == (label, category)]
        assert len(own) == cell["n"] == len({row["segment"] for row in own})
        assert sum(float(row["delta"]) for row in own) / len(own) == pytest.approx(cell["mean"])
        assert {row["kind"] for row in own} == {cell["kind"]}
    assert {row["segment"] for row in rows} == {f"item{number}" for number in range(40)}
