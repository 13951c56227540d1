"""The Korean benchmark's answers, read by our own reader: its leaderboard and its normalised rows."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from metrics.judges.forms import Form, Judged, Scoring
from metrics.judges.reading import read_answer

pytestmark = pytest.mark.data


def rows(path: Path) -> list[dict[str, Any]]:
    # On \n only: some answers and translations hold other separators.
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


@pytest.fixture(scope="module")
def korean(data: Path) -> Path:
    return data / "korean_context"


@pytest.fixture(scope="module")
def form(korean: Path) -> Form:
    prompts = korean / "judge-prompts"
    classes = json.loads((prompts / "manifest.json").read_text(encoding="utf-8"))["mqmClasses"]
    schema = json.loads((prompts / "response-schema.json").read_text(encoding="utf-8"))
    behaviours = schema["properties"]["contextBehavior"]["enum"]
    assert (len(classes), len(behaviours)) == (15, 5)
    return Form("mqm", classes=tuple(classes), labels={"contextBehavior": tuple(behaviours)})


def test_the_main_run_gives_the_published_means_and_counts(korean: Path, form: Form) -> None:
    scoring = Scoring()
    penalties: defaultdict[str, list[float]] = defaultdict(list)
    behaviours: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows(korean / "main" / "judge-raw.jsonl"):
        verdict = read_answer(row["raw_judge_output"], form, Judged(""))
        assert verdict.errors is not None, (row["stable_key"], verdict.reason)
        penalties[row["participant_id"]].append(scoring.penalty(verdict.errors))
        behaviours[row["participant_id"]][verdict.labels["contextBehavior"]] += 1
    assert sum(map(len, penalties.values())) == 7759
    assert sum(penalty > 25 for each in penalties.values() for penalty in each) == 37
    assert max(max(each) for each in penalties.values()) == 90
    reports = korean / "main" / "reports"
    published = json.loads((reports / "summary-overall.penalty.json").read_text(encoding="utf-8"))
    assert len(published) == len(penalties) == 12
    for row in published:
        found = penalties[row["participant_id"]]
        assert sum(found) / len(found) == pytest.approx(row["mean_penalty"], abs=1e-9)
    counts = json.loads((reports / "context-behavior.counts.json").read_text(encoding="utf-8"))
    assert {name: {key: n for key, n in each.items() if n} for name, each in counts.items()} == behaviours


def test_the_ablation_gives_its_normalised_rows(korean: Path, form: Form) -> None:
    folder = korean / "ablation"
    translations = {row["stable_key"]: row for row in rows(folder / "translations.jsonl")}
    scoring = Scoring()
    located: Counter[str] = Counter()
    read = 0
    for row in rows(folder / "judge-normalized.jsonl"):
        translation = translations[row["stable_key"]]
        judged = Judged(translation["translation"], translation["source"])
        verdict = read_answer(row["raw_judge_output"], form, judged)
        assert verdict.errors is not None, (row["stable_key"], verdict.reason)
        read += 1
        assert [(error.severity, error.category, error.quote) for error in verdict.errors] == [
            (error["severity"], error["class"], error["target_span_text"]) for error in row["errors"]
        ]
        assert verdict.labels == {"contextBehavior": row["context_behavior"]}
        severities = Counter(error.severity for error in verdict.errors)
        for severity in ("critical", "major", "minor"):
            assert severities[severity] == row["summary"][f"{severity}_count"]
        assert scoring.penalty(verdict.errors) == row["summary"]["total_penalty"]
        for error in verdict.errors:
            if error.span is not None:
                error.span.check(judged.hypothesis)
                located["exactly" if error.span.text == error.quote else "normalised"] += 1
            elif error.source is not None:
                error.source.check(judged.source)
                located["in the source"] += 1
            else:
                located["nowhere"] += 1
    assert read == 1284
    # 845 stand exactly once in the translation, 8 more than once; 16 omissions quote the source.
    assert located == {"exactly": 853, "in the source": 16, "nowhere": 7}


def test_the_answers_are_as_strictly_read_without_their_classes_and_labels(korean: Path) -> None:
    for row in rows(korean / "ablation" / "judge-raw.jsonl"):
        assert read_answer(row["raw_judge_output"], Form("mqm"), Judged("")).understood
        assert not read_answer(row["raw_judge_output"], Form("esa"), Judged("")).understood
        assert not read_answer(row["raw_judge_output"], Form("number"), Judged("")).understood
        assert not read_answer(row["raw_judge_output"], Form("mqm", json=True), Judged("")).understood


def test_a_cut_answer_is_never_read_as_a_better_kind_of_answer(korean: Path, form: Form) -> None:
    for row in rows(korean / "ablation" / "judge-raw.jsonl")[::20]:
        answer = row["raw_judge_output"]
        whole = read_answer(answer, form, Judged(""))
        assert whole.errors is not None
        for end in range(len(answer)):
            cut = read_answer(answer[:end], form, Judged(""))
            if cut.errors is not None:
                said = [error.severity for error in whole.errors]
                assert [error.severity for error in cut.errors] == said[: len(cut.errors)]
                # No error is believed only where all headings stand.
                assert cut.errors or not whole.errors
