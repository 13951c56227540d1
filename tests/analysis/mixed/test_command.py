"""``python -m analysis mixed-model`` as a user runs it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

Command = Callable[..., CompletedProcess[str]]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path / "deltas.csv"
    lines = ["segment,category,metric,delta,period"]
    for segment in range(40):
        effect, period = rng.normal(), "old" if segment < 20 else "new"
        lines += [
            f"s{segment},{category},{metric},{effect + shift + rng.normal():.4f},{period}"
            for category, shift in (("tense", 0.0), ("title", 1.0))
            for metric in ("chrf", "comet")
        ]
    path.write_text("\n".join([*lines, "s1,tense,chrf,,old"]) + "\n", "utf-8")
    return path


@pytest.mark.data
def test_json_is_what_scripts_rely_on(command: Command, data: Path) -> None:
    path = data / "oracle_statistics" / "missing_cell.csv"
    right = json.loads(path.with_suffix(".lme4.json").read_text("utf-8"))
    for ml, kind in ((False, "reml"), (True, "ml")):
        done = command("analysis", "mixed-model", path, "--json", *(["--ml"] if ml else []))
        answer = json.loads(done.stdout)
        assert answer["reml"] is not ml
        for key, name in (("sigma2", "sigma2"), ("tau2", "tau2"), ("log_likelihood", "logLik")):
            assert answer[key] == pytest.approx(right[kind][name], abs=1e-7)
        cells = {f"{cell['metric']}|{cell['condition']}": cell for cell in answer["cells"]}
        for name, beta, se in zip(right[kind]["cells"], right[kind]["beta"], right[kind]["se"], strict=True):
            assert cells[name]["estimate"] == pytest.approx(beta, abs=1e-7)
            assert cells[name]["se"] == pytest.approx(se, abs=1e-7)
        assert set(answer["cells"][0]) == {
            *("condition", "metric", "n", "estimate", "se", "df", "low", "high", "log10_p")
        }
        assert answer["interaction"]["lr"]["chi2"] == pytest.approx(right["interaction"]["LR_chi2"], abs=1e-3)
        assert answer["interaction"]["lr"]["df"] == answer["interaction"]["wald"]["df"] == 19
        assert answer["interaction"]["reason"] is None
        assert answer["empty_cells"] == [{"condition": "wronglang", "metric": "m3"}]
    assert (answer["state"], answer["boundary"], answer["engine"], answer["alpha"]) == (
        *("ok", False, "exact"),
        0.05,
    )
    assert (answer["n_rows"], answer["missing_rows"], answer["n_segments"]) == (1428, 0, 116)
    assert (answer["factor"], answer["by"], answer["by_interaction"]) == ("condition", None, None)
    assert answer["levels"] == {}


def test_engines_agree(command: Command, table: Path) -> None:
    answers = [
        json.loads(
            command(
                *("analysis", "mixed-model", table, "--factor", "category", "--json", "--engine", engine)
            ).stdout
        )
        for engine in ("exact", "statsmodels")
    ]
    assert [answer["engine"] for answer in answers] == ["exact", "statsmodels"]
    for one, two in zip(answers[0]["cells"], answers[1]["cells"], strict=True):
        assert two["estimate"] == pytest.approx(one["estimate"], abs=1e-5)
        assert two["se"] == pytest.approx(one["se"], rel=2e-3)
        assert two["df"] is None


def test_text_and_files(command: Command, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command(
        *("analysis", "mixed-model", table, "--factor", "category", "--by", "period", "--out", out)
    )
    assert {path.name for path in out.iterdir()} == {
        f"mixed-model.{end}" for end in ("md", "csv", "tex", "json")
    }
    for words in (
        "category × metric: LR (ML) chi-square(1) = ",
        "; Wald (REML fit) chi-square(1) = ",
        "metric × period: LR (ML) chi-square(1) = ",
        "period old",
        "1 rows have no delta",
        "***",
    ):
        assert words in done.stdout
    assert "nan" not in done.stdout.lower()
    with (out / "mixed-model.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["level"] for row in rows] == [""] * 4 + ["old"] * 4 + ["new"] * 4
    document = json.loads((out / "mixed-model.json").read_text("utf-8"))
    assert document["levels"]["new"]["n_segments"] == 20
    assert float(rows[0]["estimate"]) == document["cells"][0]["estimate"]


def test_a_large_table_is_printed_whole(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    rng = np.random.default_rng(0)
    rows = [f"s{s},c{c},m{m},{rng.normal()}" for s in range(5) for c in range(6) for m in range(8)]
    path.write_text("\n".join(["segment,condition,metric,delta", *rows]) + "\n", "utf-8")
    shown = command("analysis", "mixed-model", path).stdout
    assert all(f"c{c}" in shown and f"m{m}" in shown for c in range(6) for m in range(8))
    assert len([line for line in shown.splitlines() if line.startswith("c")]) >= 48


@pytest.mark.parametrize(
    ("text", "args", "words"),
    [
        (None, [], "no such file"),
        ("segment,condition,metric,delta\n", [], "the table has no rows"),
        ("segment,condition,metric\na,b,c\n", [], "no column 'delta'"),
        ("segment,condition,metric,delta\na,b,c,1\n", ["--factor", "era"], "no column 'era'"),
        ("segment,condition,metric,delta\na,b,c,one\n", [], ":2: 'one'"),
        ("segment,condition,metric,delta\na,b,c,nan\n", [], "no row has a delta"),
        ("segment,condition,metric,delta\na,b,c,1\n", ["--engine", "lme4"], "one of: exact, statsmodels"),
        ("segment,condition,metric,delta\na,b,c,1\n", ["--alpha", "0"], "--alpha is 0"),
    ],
)
def test_wrong_input(command: Command, tmp_path: Path, text: str | None, args: list[str], words: str) -> None:
    path = tmp_path / "deltas.csv"
    if text is not None:
        path.write_text(text, "utf-8")
    out = tmp_path / "out"
    done = command("analysis", "mixed-model", path, *args, "--out", out, code=2)
    assert words in done.stderr and not out.exists() and done.stdout == ""
