"""``python -m analysis errors`` from files to files."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def campaign(path: Path, rows: list[list[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)
    return path


def row(line: int, doc: str, errors: int, *, bad: bool = False, start: float = 0.0) -> list[object]:
    spans = [{"start_i": 2 * place, "end_i": 2 * place, "severity": "minor"} for place in range(errors)]
    kind, suffix, score = ("BAD", "#bad", 5) if bad else ("TGT", "", 90 - 10 * errors)
    login = f"login{line % 3}"
    return [
        login,
        "A",
        line,
        kind,
        "eng",
        "deu",
        score,
        doc + suffix,
        "False",
        json.dumps(spans),
        start,
        start,
    ]


@pytest.fixture
def study(tmp_path: Path) -> dict[str, Path]:
    """Two conditions of one system's 24 outputs in 8 documents, with checks, and the outputs."""
    draw = random.Random(2)
    files = {}
    for name in ("DOC", "MIX"):
        rows = [row(line, f"d{line // 3}", draw.randrange(4), start=30.0 * line) for line in range(24)]
        rows += [row(line, f"d{line // 3}", 3, bad=True, start=30.0 * line + 10) for line in range(0, 24, 2)]
        files[name] = campaign(tmp_path / f"{name}.csv", rows)
    root = tmp_path / "mtme"
    for folder, name, text in (
        ("sources", "en-de.txt", "source\n" * 24),
        ("documents", "en-de.docs", "".join(f"news\td{line // 3}\n" for line in range(24))),
        ("system-outputs/en-de", "A.txt", "ten chars.\n" * 24),
    ):
        (root / folder).mkdir(parents=True)
        (root / folder / name).write_text(text)
    return files | {"mtme": root}


def test_from_campaigns_to_tables(study: dict[str, Path], command: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command(
        *("analysis", "errors", "--campaign", f"DOC={study['DOC']}", "--campaign", f"MIX={study['MIX']}"),
        *("--mtme", study["mtme"], "--out", out),
    )
    assert "Equivalence of error counts" in done.stdout
    assert "Errors by system" not in done.stdout
    names = [f"errors.{suffix}" for suffix in ("csv", "json", "md", "tex")]
    assert sorted(path.name for path in out.iterdir()) == [*names, "human-scores", "judgements.csv"]
    assert sorted(path.name for path in (out / "human-scores").iterdir()) == [
        "en-de.DOC.seg.score",
        "en-de.MIX.seg.score",
    ]

    document = json.loads((out / "errors.json").read_text(encoding="utf-8"))
    assert document["configuration"]["margin"] == 0.5
    assert [one["annotations"]["real"] for one in document["campaigns"]] == [24, 24]
    with (out / "errors.csv").open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    assert [(line["condition"], line["part"], line["name"]) for line in table] == [
        (condition, part, name)
        for condition in ("DOC", "MIX")
        for part, name in (("condition", ""), ("system", "A"), ("domain", "news"))
    ]
    with study["DOC"].open(encoding="utf-8", newline="") as stream:
        counts = [len(json.loads(line[9])) for line in csv.reader(stream) if line[3] == "TGT"]
    assert float(table[0]["mean"]) == pytest.approx(sum(counts) / 24)
    assert float(table[0]["per_1000"]) == pytest.approx(1000 * sum(counts) / 240)
    every = document["comparisons"][0]
    assert (every["variant"], every["outputs"], every["margin"]) == ("all errors", 24, 0.5)
    assert every["clustered_by"] == ["document", "annotator"]
    checks = document["attention_checks"]
    assert [(one["annotator"], one["lower"]) for one in checks[:4]] == [
        ("", 12),
        ("login0", 4),
        ("login1", 4),
        ("login2", 4),
    ]
    text = (out / "errors.md").read_text(encoding="utf-8")
    assert "## Attention checks by annotator" in text
    assert not re.search(r"\b(nan|None|inf)\b", text + (out / "errors.tex").read_text(encoding="utf-8"))

    agreement = command("analysis", "agreement", "--table", out / "judgements.csv", "--json")
    assert json.loads(agreement.stdout)


def test_one_condition_of_several_files_without_any_other_file(
    study: dict[str, Path], command: Command
) -> None:
    done = command(
        *("analysis", "errors", "--json", "--campaign", f"ALL={study['DOC']}"),
        *("--campaign", f"ALL={study['MIX']}"),
    )
    document = json.loads(done.stdout)
    whole, *rest = document["rates"]
    assert (whole["annotations"], whole["per_1000"], whole["boundary_share"]) == (48, None, None)
    assert whole["without_text"] == 48
    assert [one["name"] for one in rest if one["part"] == "campaign"] == ["DOC", "MIX"]
    assert document["comparisons"] == []


def test_the_order_of_the_rows_does_not_matter(study: dict[str, Path], command: Command) -> None:
    def answer() -> Any:
        arguments = ["--campaign", f"DOC={study['DOC']}", "--campaign", f"MIX={study['MIX']}"]
        return json.loads(command("analysis", "errors", *arguments, "--mtme", study["mtme"], "--json").stdout)

    before = answer()
    lines = study["DOC"].read_text(encoding="utf-8").splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    study["DOC"].write_text("".join(lines), encoding="utf-8")
    assert answer() == before


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--campaign", "nofile"], "--campaign is 'nofile'"),
        (["--campaign", "=x"], "--campaign is '=x'"),
        (["--campaign", "a/b=DOC.csv"], "cannot be part of a file name"),
        (["--campaign", "X=DOC.csv", "--campaign", "Y=DOC.csv"], "names a file twice"),
        (["--campaign", "X=absent.csv"], "no such file"),
        (["--campaign", "X=DOC.csv", "--margin", "0"], "--margin is 0"),
        (["--campaign", "X=DOC.csv", "--margin", "nan"], "--margin is nan"),
        (["--campaign", "X=DOC.csv", "--alpha", "0.7"], "--alpha is 0.7"),
        (["--campaign", "X=DOC.csv", "--pause", "-1"], "--pause is -1"),
        (["--campaign", "X=DOC.csv", "--lang-pair", "en-ja"], "no rows of en-ja"),
        (["--campaign", "X=DOC.csv", "--batches", "b", "--segments", "s"], "not by both"),
        (["--campaign", "X=broken.csv"], "broken.csv:1: "),
        (["--campaign", "X=DOC.csv", "--campaign", "Y=other.csv"], "campaigns of several language pairs"),
    ],
)
def test_wrong_use_ends_with_2_and_writes_nothing(
    study: dict[str, Path], command: Command, tmp_path: Path, arguments: list[str], problem: str
) -> None:
    campaign(tmp_path / "broken.csv", [row(0, "d0", 0)[:5]])
    other = row(0, "d0", 0)
    other[5] = "jpn"
    campaign(tmp_path / "other.csv", [other])
    placed = [re.sub(r"=(?=\w+\.csv)", f"={tmp_path}/", argument) for argument in arguments]
    out = tmp_path / "out"
    done = command("analysis", "errors", *placed, "--out", out, code=2)
    assert problem in done.stderr
    assert not out.exists()


@pytest.mark.data
def test_published_campaigns(command: Command, data: Path, tmp_path: Path) -> None:
    folder = data / "esa_wmt23_ende"
    done = command(
        *("analysis", "errors", "--json", "--out", tmp_path / "out"),
        *("--campaign", f"ESA-1={folder / '240315rc5ESA.scores.csv'}"),
        *("--campaign", f"ESA-2={folder / '240520rc6ESA.scores.csv'}"),
        *("--batches", folder / "batches_wmt23_en-de_esa.json", "--mtme", data / "wmt23"),
        *("--annotators", folder / "Annotators_mapping.csv"),
    )
    document = json.loads(done.stdout)
    whole = [one for one in document["rates"] if one["part"] == "condition"]
    assert [round(one["mean"], 3) for one in whole] == [0.431, 1.014]
    assert [one["annotators"] for one in document["campaigns"]] == [8, 10]
    assert document["comparisons"][0]["verdict"] == "different"
    for name in ("ESA-1", "ESA-2"):
        made = sorted((tmp_path / "out" / "human-scores" / f"en-de.{name}.seg.score").read_text().split("\n"))
        published = (folder / f"en-de.{name}.seg.score").read_text().split("\n")
        assert [re.sub(r"\.0$", "", line) for line in made] == sorted(
            re.sub(r"\.0$", "", line) for line in published
        )
