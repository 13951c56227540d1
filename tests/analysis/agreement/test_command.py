"""``python -m analysis agreement`` as a user runs it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Command = Callable[..., CompletedProcess[str]]

SCORES = """doc,segment,system,annotator,score
d1,1,A,ann,80
d1,1,A,bob,75
d1,2,A,ann,60
d1,2,A,bob,
d2,1,A,ann,30
d2,1,A,bob,41
d2,1,B,ann,90
d2,1,B,bob,95
"""


def test_kappa_from_counts(command: Command) -> None:
    answer = json.loads(
        command("analysis", "agreement", "--counts", "1620,1225,1206,1088,277", "--json").stdout
    )
    assert round(answer["kappa"], 3) == 0.58
    assert (answer["n"], answer["valid1"], answer["both_invalid"], answer["state"]) == (1620, 1225, 277, "ok")
    assert answer["low"] < answer["bootstrap_high"]
    shown = command("analysis", "agreement", "--counts", "112, 100,102,96,6").stdout
    assert "0.496" in shown and "[0.227, 0.766]" in shown


def test_no_kappa_is_null_and_named(command: Command) -> None:
    done = command("analysis", "agreement", "--counts", "10,10,10,10,0", "--json")
    answer = json.loads(done.stdout)
    assert (answer["kappa"], answer["se"], answer["low"], answer["state"]) == (None, None, None, "undefined")
    assert "nan" not in done.stdout.lower()


def test_files_of_labels(command: Command, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "annotator1,annotator2,category\n"
        + "valid,valid,tense\n" * 4
        + "valid,invalid,tense\ninvalid,invalid,tense\ninvalid,invalid,title\nvalid,,title\n",
        "utf-8",
    )
    out = tmp_path / "out"
    done = command("analysis", "agreement", "--labels", labels, "--out", out, "--seed", "4")
    assert {path.name for path in out.iterdir()} == {
        f"agreement.{end}" for end in ("md", "csv", "tex", "json")
    }
    with (out / "agreement.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["name"]: row for row in csv.DictReader(stream)}
    assert list(rows) == ["tense", "title", "overall"]
    # tense: observed 5/6, expected (5 * 4 + 1 * 2) / 36
    assert float(rows["tense"]["kappa"]) == pytest.approx((5 / 6 - 22 / 36) / (14 / 36))
    assert rows["title"]["kappa"] == "" and rows["title"]["state"] == "undefined"
    assert (rows["title"]["n"], rows["title"]["missing"]) == ("1", "1")
    document = json.loads((out / "agreement.json").read_text("utf-8"))
    assert document["rows"][0]["table"] == [[1, 0], [1, 4]]
    assert "undefined" in done.stdout and str(out / "agreement.md") in done.stdout


def test_alphas_of_a_table(command: Command, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text(SCORES, "utf-8")
    done = command("analysis", "agreement", "--table", table, "--json")
    document = json.loads(done.stdout)
    assert (document["level"], document["reliable_from"], document["resamples"]) == ("interval", 0.667, 1000)
    rows = {(row["unit"], row["scores"]): row for row in document["rows"]}
    raw = rows["segment", "raw"]
    # Three units of two: n D_o = 2 (5² / 2 + ...) and n = 6, by hand.
    values = [80, 75, 30, 41, 90, 95]
    between = sum((x - y) ** 2 for x in values for y in values)
    assert raw["alpha"] == pytest.approx(1 - 5 * 2 * (25 + 121 + 25) / between)
    assert (raw["units"], raw["values"], raw["dropped_units"], raw["missing"]) == (3, 6, 1, 1)
    assert (raw["condition"], raw["annotators"], raw["documents"]) == ("all", 2, 2)
    assert raw["low"] <= raw["high"] and rows["document", "raw"]["partial"] == 2
    assert json.loads(command("analysis", "agreement", "--table", table, "--json").stdout) == document
    assert "Krippendorff" in command("analysis", "agreement", "--table", table, "--level", "ordinal").stdout


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((), "one of --counts, --labels and --table"),
        (("--counts", "1,1,1,1,0", "--labels", "x.csv"), "and no other"),
        (("--counts", "5,5,5,4,0"), "do not add up"),
        (("--counts", "5,5,-5,4,0"), "negative"),
        (("--counts", "5,5,5,4"), "five whole numbers"),
        (("--counts", "1,1,1,1,0", "--level", "ordinal"), "--level is of scores"),
        (("--counts", "1,1,1,1,0", "--resamples", "1"), "--resamples is 1"),
        (("--counts", "1,1,1,1,0", "--seed", "-1"), "--seed is -1"),
        (("--labels", "absent.csv"), "absent.csv: no such file"),
        (("--table", "absent.csv"), "absent.csv: no such file"),
        (("--table", "absent.csv", "--level", "ratio"), "one of: interval, ordinal, nominal"),
    ],
)
def test_wrong_use(command: Command, args: tuple[str, ...], problem: str) -> None:
    assert problem in command("analysis", "agreement", *args, code=2).stderr


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (",annotator", ",rater", "scores.csv:1: no column 'annotator'"),
        (",score", ",points", "scores.csv:1: no column 'score'"),
        ("d1,1,A,bob,75", "d1,1,A,bob,high", "scores.csv:3: 'high' in column 'score'"),
        ("d1,1,A,bob,75", "d1,1,A,bob,inf", "scores.csv:3: 'inf' in column 'score'"),
        ("d1,1,A,bob,75", "d1,1,A,ann,75", "scores.csv:3: a second judgement of"),
    ],
)
def test_wrong_tables(command: Command, tmp_path: Path, before: str, after: str, problem: str) -> None:
    table = tmp_path / "scores.csv"
    table.write_text(SCORES.replace(before, after, 1), "utf-8")
    out = tmp_path / "out"
    done = command("analysis", "agreement", "--table", table, "--out", out, code=2)
    assert problem in done.stderr
    assert not out.exists()
