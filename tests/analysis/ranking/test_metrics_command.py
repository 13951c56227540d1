import csv
import json
from pathlib import Path

import pytest

SCORES = {"A": [0, -1, -5, 0], "B": [-1, -1, -9, -5], "refA": [0, 0, 0, 0]}
METRIC = {"A": [0.9, 0.8, 0.5, 0.9], "B": [0.8, 0.8, 0.1, 0.2], "refA": [1, 1, 1, 1]}


@pytest.fixture
def bench(write_mtme) -> Path:
    return write_mtme(SCORES, {"m-refA": METRIC, "n-src": METRIC}, references=["refA"], documents=["d"] * 4)


def test_json_and_files(command, bench: Path, tmp_path: Path) -> None:
    given = ("--mtme", bench, "--lang-pair", "en-de", "--gold", "mqm")
    done = command("analysis", "ranking", *given, "--json", "--out", tmp_path / "out")
    document = json.loads(done.stdout)
    assert [entry["metric"] for entry in document["metrics"]] == ["m", "n"]
    first = document["metrics"][0]
    assert (first["system_pairwise_accuracy"], first["segment_pairwise_accuracy"], first["threshold"]) == (
        1,
        1,
        0,
    )
    assert document["systems"] == ["A", "B"]
    assert document["left_out"] == {"refA": "a reference"}
    assert json.loads((tmp_path / "out" / "ranking.json").read_text()) == document
    with (tmp_path / "out" / "ranking.csv").open() as stream:
        assert [row["metric"] for row in csv.DictReader(stream)] == ["m", "n"]
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".md", ".csv", ".tex", ".json"}
    again = command("analysis", "ranking", *given, "--json")
    assert again.stdout == done.stdout
    text = command("analysis", "ranking", *given, "--metrics", "n").stdout
    assert "Not ranked: refA (a reference)" in text and "\nn " in text and "\nm " not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to rank"),
        (("--gold", "esa"), "no human scores 'esa'"),
        (("--statistic", "x"), "--statistic is 'x'"),
        (("--by", "word"), "--by is 'word'"),
        (("--permutations", "0"), "--permutations is 0"),
        (("--seed", "-1"), "--seed is -1"),
        (("--alpha", "1"), "--alpha is 1"),
        (("--metrics", "chrF"), "no metric 'chrF'"),
    ],
)
def test_what_is_refused(command, bench: Path, tmp_path: Path, arguments: tuple, message: str) -> None:
    given = ("--mtme", bench, "--lang-pair", "en-de", "--gold", "mqm", "--out", tmp_path / "out")
    done = command("analysis", "ranking", *(given if arguments else ()), *arguments, code=2)
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.data
def test_wmt23(command, data: Path) -> None:
    given = ("--mtme", data / "wmt23", "--lang-pair", "en-de", "--gold", "mqm")
    done = command(
        "analysis", "ranking", *given, "--statistic", "segment-accuracy", "--by", "document", "--json"
    )
    found = {entry["metric"]: entry for entry in json.loads(done.stdout)["metrics"]}
    assert {
        name: round(found[name]["system_pairwise_accuracy"], 4) for name in ("GEMBA-MQM", "COMET", "chrF")
    } == {
        "GEMBA-MQM": 1.0,
        "COMET": 0.9697,
        "chrF": 0.8182,
    }
    assert found["MetricX-23"]["cluster"] == 1 and found["chrF"]["cluster"] > 1
