"""The commands a user types, on the tiny checkpoints behind the real ids."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from challenge_sets import ChallengeSet, InputError
from metrics import METRICS, Request, Settings, read_about, read_scores
from metrics.cli import app
from metrics.marked import read_marked_errors
from metrics.requests import ModelOptions
from metrics.runner import score_set

ROOT = Path(__file__).parents[3]
STUDIES = "bleu,chrf,comet22,comet22-ref,xcomet-xl,xcomet-xl-qe,metricx24-xl,metricx24-xl-ref,metricx24-xl-qe"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, command: Callable[..., Any]) -> Path:
    """The bundled translations into German, perturbed by rule."""
    out = tmp_path_factory.mktemp("built") / "set"
    source = ROOT / "challenge_sets" / "data" / "translations.jsonl"
    command(
        "perturb", "build", "--format", "jsonl", "--input", source, "--target-lang", "de", "--limit", "3",
        "--out", out,
    )  # fmt: skip
    return out


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory, command: Callable[..., Any]) -> Path:
    """Two documents of three segments, short enough for tokens of single letters."""
    folder = tmp_path_factory.mktemp("short")
    rows = [
        {"doc": f"d{number // 3}", "source": f"Er hat {number}.", "hypothesis": f"He has {number + 10} now."}
        for number in range(6)
    ]
    table = folder / "in.jsonl"
    table.write_text("".join(json.dumps(row | {"reference": "He has 3."}) + "\n" for row in rows))
    line = ("perturb", "build", "--format", "jsonl", "--input", table, "--lang-pair", "de-en")
    command(*line, "--out", folder / "set")
    return folder / "set"


Score = Callable[..., Any]


@pytest.fixture
def score(capsys: pytest.CaptureFixture[str]) -> Score:
    """``score(built, out, *args, code=0)``: the command in this process, which has the libraries loaded."""

    def run_here(built: Path, out: Path, *args: str, code: int = 0) -> Any:
        capsys.readouterr()
        line = ["score", "--set", str(built), "--out", str(out), "--json", *args]
        try:
            app(line, standalone_mode=False)
            ended = 0
        except SystemExit as end:
            ended = int(end.code or 0)
        assert ended == code
        return json.loads(capsys.readouterr().out)

    return run_here


def test_every_configuration_of_the_studies(
    hub: Path, built: Path, tmp_path: Path, command: Callable[..., Any], score: Score
) -> None:
    out = tmp_path / "scores"
    line = ("metrics", "score", "--set", built, "--metrics", STUDIES, "--out", out, "--json")
    done = json.loads(command(*line).stdout)
    assert [each["metric"] for each in done["metrics"]] == STUDIES.split(",")
    pairs = done["metrics"][0]["cells"] // 2
    assert pairs >= 20
    for each in done["metrics"]:
        assert each["counts"] == {"ok": 2 * pairs} and each["missing"] == 0

    about = {each.about.name: each.about for each in read_about(out).metrics}
    assert "|inputs:ref, source empty|" in about["comet22-ref"].signature
    assert not about["metricx24-xl"].higher_is_better and about["xcomet-xl"].higher_is_better
    assert about["xcomet-xl"].parameters == 3_500_000_000

    texts = {pair.pair: pair for pair in ChallengeSet(built).pairs()}
    origin = {(each.item, each.system): each for each in ChallengeSet(built).translations()}
    scores = list(read_scores(out))
    for name in STUDIES.split(",")[2:]:
        mine = [each for each in scores if each.metric == name][:6]
        metric = METRICS[name].configured(ModelOptions())(Settings("de"))
        for each in mine:
            of = origin[each.item, each.system]
            request = Request(getattr(texts[each.pair], each.side), of.source, of.reference)
            (answer,) = metric.score([request])
            assert each.raw == pytest.approx(answer.raw, abs=metric.tie_threshold)
            assert each.value == (each.raw if metric.higher_is_better else -each.raw)
    marked = list(read_marked_errors(out))
    assert {each.metric for each in marked} == {"xcomet-xl", "xcomet-xl-qe"} and len(marked) == 4 * pairs

    again = score(built, out, "--metrics", STUDIES)
    assert all(each["to_score"] == 0 for each in again["metrics"])
    command("analysis", "sensitivity", "--set", built, "--scores", out, "--out", tmp_path / "tables")
    command("metrics", "export", "--set", built, "--scores", out, "--out", tmp_path / "mtme")
    assert list((tmp_path / "mtme").rglob("metricx24-xl-qe-src.seg.score"))


def test_documents(hub: Path, short: Path, tmp_path: Path, command: Callable[..., Any], score: Score) -> None:
    out = tmp_path / "scores"
    in_context = "doc-ref:comet22,doc-hyp:comet22"
    score(short, out, "--metrics", in_context, "--previous", "1")
    whole = "whole:xcomet-xl,slide:metricx24-xl-qe,slide:cometkiwi22"
    score(short, out, "--metrics", whole, "--overlong", "window", "--window", "2", "--stride", "1")
    about = {each.about.name: each.about for each in read_about(out).metrics}
    assert "|context:ref|previous:1|" in about["doc-ref:comet22"].signature
    assert "|context:hyp|previous:1|" in about["doc-hyp:comet22"].signature
    assert "|window:2|stride:1|" in about["slide:cometkiwi22"].signature
    assert {name for name, each in about.items() if each.unit == "document"} == set(whole.split(","))
    command("analysis", "sensitivity", "--set", short, "--scores", out, "--out", tmp_path / "tables")
    command("metrics", "export", "--set", short, "--scores", out, "--out", tmp_path / "mtme")
    assert list((tmp_path / "mtme").rglob("doc-ref%3Acomet22-*.seg.score"))


def test_the_commands_of_the_documentation(hub: Path, short: Path, tmp_path: Path) -> None:
    docs = (ROOT / "docs" / "neural.md").read_text(encoding="utf-8")
    commands = re.findall(r"^python -m metrics (score .*)$", docs, re.MULTILINE)
    assert len(commands) >= 4
    for line in commands:
        places = {"out/mine/scores": str(tmp_path / "scores"), "out/mine": str(short)}
        app([places.get(word, word) for word in shlex.split(line)], standalone_mode=False)
    assert len(read_about(tmp_path / "scores").metrics) == 11


def test_one_process_a_device_gives_the_same_table(
    hub: Path, built: Path, tmp_path: Path, command: Callable[..., Any], score: Score
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    names = "comet22,xcomet-xl"
    score(built, one, "--metrics", names, "--device", "cpu")
    score(built, two, "--metrics", names, "--device", "cpu,cpu")
    for mine, other in zip(read_scores(one), read_scores(two), strict=True):
        assert (mine.pair, mine.side, mine.signature) == (other.pair, other.side, other.signature)
        assert mine.value == pytest.approx(other.value, abs=1e-6)


def test_a_dry_run_says_what_will_get_no_score(
    hub: Path, tmp_path: Path, overlong_text: str, command: Callable[..., Any], score: Score
) -> None:
    rows = [
        {"source": "Kurz.", "hypothesis": "He has 3 short 12 cats.", "reference": "Short."},
        {"source": "Lang.", "hypothesis": overlong_text, "reference": "Long."},
    ]
    table = tmp_path / "in.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    built = tmp_path / "set"
    command("perturb", "build", "--format", "jsonl", "--input", table, "--lang-pair", "de-en", "--out", built)
    out = tmp_path / "scores"
    plan = score(built, out, "--metrics", "comet22", "--dry-run")
    (plan,) = plan["metrics"]
    assert 0 < plan["screened"] < plan["to_score"] and not out.exists()
    with pytest.raises(InputError, match=r"comet22: a text is too long: .*the model reads 510"):
        score(built, out, "--metrics", "comet22", "--overlong", "error")
    assert not out.exists()
    done = score(built, out, "--metrics", "comet22", code=3)
    assert done["metrics"][0]["counts"]["truncated"] == done["metrics"][0]["missing"] > 0
    for each in read_scores(out):
        assert (each.value is None) == (each.status == "truncated")
        if each.status == "truncated":
            assert "the model reads 510" in each.reason
    command("analysis", "sensitivity", "--set", built, "--scores", out, "--out", tmp_path / "tables")
    windowed = score(built, out, "--metrics", "comet22", "--overlong", "window")
    assert set(windowed["metrics"][0]["counts"]) == {"ok"}
    assert "|overlong:window, overlap 0.25" in windowed["metrics"][0]["signature"]
    table_of = {(each.signature, each.pair, each.side): each for each in read_scores(out)}
    assert len({signature for signature, _, _ in table_of}) == 2


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [
        ("xcomet-xxl", {}, "is not cached"),
        ("comet:Unbabel/wmt22-comet-dada", {}, "is not cached"),
        ("comet:/no/such/folder", {}, "no such file or folder"),
        ("comet:", {}, "no checkpoint behind 'comet:'"),
        ("comet22", {"device": "cuda:7"}, "there is no device 'cuda:7' here"),
        ("comet22", {"device": "tpu"}, "no device is called 'tpu'"),
        ("comet22,xcomet-xl", {"revision": "abc"}, "revision"),
        ("doc-ref:cometkiwi22", {}, "no reference to put before the hypothesis"),
        ("doc-hyp:xcomet-xl", {}, "XCOMET has no form with context"),
        ("doc-hyp:metricx24-xl", {}, "MetricX has no form with context"),
        ("slide:bleu", {}, "slide: takes a neural metric"),
        ("slide:whole:comet22", {}, "slide: takes a neural metric"),
        ("doc-hyp:comet22", {"overlong": "window"}, "not cut into windows"),
        ("comet-qe:Unbabel/wmt22-comet-da", {}, "the checkpoint takes both or ref, not qe"),
        ("comet23", {}, "did you mean"),
    ],
)
def test_one_message_and_nothing_written(
    hub: Path, built: Path, tmp_path: Path, names: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        score_set(ChallengeSet(built), names.split(","), tmp_path / "out", model=ModelOptions(**options))
    assert not (tmp_path / "out").exists()


def test_a_message_on_the_command_line(
    hub: Path, built: Path, tmp_path: Path, command: Callable[..., Any]
) -> None:
    line = ("metrics", "score", "--set", built, "--metrics", "xcomet-xxl", "--out", tmp_path / "out")
    said = command(*line, code=2).stderr
    assert said.startswith("error: Unbabel/XCOMET-XXL is not cached")
    assert "HF_HUB_OFFLINE" in said and "licence" in said


def test_reference_metrics_refuse_a_set_without_references(
    hub: Path, tmp_path: Path, command: Callable[..., Any], score: Score
) -> None:
    table = tmp_path / "in.tsv"
    table.write_text("source\thypothesis\nEs sind 3.\tThere are 3.\n", encoding="utf-8")
    built = tmp_path / "set"
    command("perturb", "build", "--format", "tsv", "--input", table, "--lang-pair", "de-en", "--out", built)
    with pytest.raises(InputError, match="xcomet-xl, comet22: a reference is needed"):
        score(built, tmp_path / "out", "--metrics", "xcomet-xl,comet22")
    done = score(built, tmp_path / "out", "--metrics", "xcomet-xl-qe")
    assert set(done["metrics"][0]["counts"]) == {"ok"}


def test_the_tests_have_their_own_hub(hub: Path) -> None:
    assert os.environ["HF_HOME"] == str(hub) and os.environ["HF_HUB_OFFLINE"] == "1"
