"""``python -m analysis equivalence`` as a user runs it."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Command = Callable[..., CompletedProcess[str]]

PAIRS = "doc,annotator,DOC,MIX\n" + "".join(
    f"d{number % 11},a{number % 3},{60 + 7 * number % 40},{60 + (7 * number + 3 * (number % 5) - 6) % 40}\n"
    for number in range(110)
)


@pytest.mark.data
def test_the_oracle_table(command: Command, data: Path) -> None:
    table = data / "oracle_statistics" / "tost_clustered.csv"
    expected = json.loads((table.parent / "tost_clustered.R.json").read_text("utf-8"))
    document = json.loads(
        command("analysis", "equivalence", "--table", table, "--margin", "3,5,7", "--json").stdout
    )
    assert document["configuration"]["margins"] == [3.0, 5.0, 7.0]
    rows = {(row["method"], row["margin"]): row for row in document["results"]}
    for margin in (3.0, 5.0, 7.0):
        for method, name in (("naive", "paired_t"), ("document", "doc_CR2_satterthwaite")):
            row, sides = rows[method, margin], expected[name]["tost"][f"eps{margin:.0f}"]
            assert row["log10_p_lower"] == pytest.approx(math.log10(sides["lower"]), rel=1e-10)
            assert row["log10_p_upper"] == pytest.approx(math.log10(sides["upper"]), rel=1e-10)
            assert row["log10_p"] == max(row["log10_p_lower"], row["log10_p_upper"])
        default = rows["two-way", margin]
        assert default["default"] and (default["n"], default["annotators"]) == (1200, 10)
        assert default["difference"] == pytest.approx(expected["paired_t"]["est"])
        assert default["mean_mix"] - default["mean_doc"] == pytest.approx(default["difference"])
    assert sum(row["default"] for row in document["results"]) == 3
    shown = command("analysis", "equivalence", "--table", table, "--margin", "1.5").stdout
    assert "The two verdicts differ in 1 of 1 rows." in shown and "MIX − DOC" in shown


def test_files_and_seed(command: Command, tmp_path: Path) -> None:
    table, out = tmp_path / "pairs.csv", tmp_path / "out"
    table.write_text(PAIRS, "utf-8")
    args = ("analysis", "equivalence", "--table", table, "--margin", "3", "--resamples", "500")
    done = command(*args, "--out", out)
    assert {path.name for path in out.iterdir()} == {
        f"equivalence.{end}" for end in ("md", "csv", "tex", "json")
    }
    assert "3 annotators: fewer than 10" in done.stdout
    with (out / "equivalence.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["method"] for row in rows] == ["naive", "document", "annotator", "two-way", "bootstrap"]
    document = json.loads((out / "equivalence.json").read_text("utf-8"))
    assert json.loads(command(*args, "--json").stdout) == document
    other = json.loads(command(*args, "--json", "--seed", "1").stdout)
    assert other["results"][-1]["low"] != document["results"][-1]["low"]
    assert other["results"][:-1] == document["results"][:-1]


def test_designs(command: Command, tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    lines = PAIRS.splitlines()
    single = [
        ",".join(
            [*line.split(",")[:2], *(("", line.split(",")[3]) if place % 2 else (line.split(",")[2], ""))]
        )
        for place, line in enumerate(lines[1:])
    ]
    table.write_text("\n".join([lines[0], *single]) + "\n", "utf-8")
    args = ("analysis", "equivalence", "--table", table, "--margin", "3", "--resamples", "100", "--json")
    unpaired = json.loads(command(*args, "--design", "unpaired").stdout)["results"]
    assert {row["n"] for row in unpaired} == {110} and unpaired[3]["verdict"] != "no data"
    means = json.loads(command(*args, "--design", "per-annotator").stdout)["results"]
    assert [(row["method"], row["n"]) for row in means] == [("naive", 110), ("annotator-means", 3)]
    # No row has both scores: named, null, and no NaN.
    done = command(*args)
    paired = json.loads(done.stdout)["results"]
    assert {row["verdict"] for row in paired} == {"no data"}
    assert {(row["n"], row["missing"], row["log10_p"]) for row in paired} == {(0, 110, None)}
    assert "NaN" not in done.stdout


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((), "needs --margin"),
        (("--margin", "0"), "a margin is a positive number"),
        (("--margin", "3,-5"), "--margin has -5"),
        (("--margin", "3,x"), "--margin has x"),
        (("--margin", "3", "--alpha", "0.5"), "--alpha is 0.5"),
        (("--margin", "3", "--resamples", "10"), "--resamples is 10"),
        (("--margin", "3", "--seed", "-1"), "--seed is -1"),
        (("--margin", "3", "--design", "crossed"), "one of: paired, unpaired, per-annotator"),
        (("--margin", "3", "--method", "best"), "one of: naive, document"),
        (("--margin", "3", "--method", "annotator-means"), "none of the paired design"),
    ],
)
def test_wrong_use(command: Command, tmp_path: Path, args: tuple[str, ...], problem: str) -> None:
    table, out = tmp_path / "pairs.csv", tmp_path / "out"
    table.write_text(PAIRS, "utf-8")
    done = command("analysis", "equivalence", "--table", table, "--out", out, *args, code=2)
    assert problem in done.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("MIX", "SHUFFLED", "pairs.csv:1: no column 'MIX'"),
        ("d1,a1,67", "d1,a1,good", "pairs.csv:3: 'good' in column 'DOC'"),
        ("d1,a1,67", "d1,,67", "pairs.csv:3: a score of human without its annotator"),
        ("d1,a1,67", ",a1,67", "pairs.csv:3: the column 'doc' is empty"),
        ("d1,a1,67", "d1,a1,inf", "pairs.csv:3: 'inf' in column 'DOC'"),
    ],
)
def test_wrong_tables(command: Command, tmp_path: Path, before: str, after: str, problem: str) -> None:
    table = tmp_path / "pairs.csv"
    assert before in PAIRS
    table.write_text(PAIRS.replace(before, after, 1), "utf-8")
    done = command("analysis", "equivalence", "--table", table, "--margin", "3", code=2)
    assert problem in done.stderr
