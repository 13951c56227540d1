"""The Korean context benchmark's own judge, read from its directory as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from challenge_sets import InputError, Turn
from metrics.judges.forms import Form, Scoring
from metrics.judges.prompt_sets import Inputs, read_prompt_set


def test_the_benchmarks_judge_runs_unchanged(data: Path) -> None:
    folder = data / "korean_context" / "judge-prompts"
    prompts = read_prompt_set(folder)
    classes = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["mqmClasses"]
    assert prompts.name == "gemba-mqm-context-v1"
    assert prompts.needs == {"source", "context"}
    assert (prompts.unit, prompts.higher_is_better, prompts.structured) == ("segment", False, False)
    assert prompts.scoring == Scoring()
    assert prompts.steps[0].form == Form(
        "mqm",
        classes=tuple(classes),
        labels={
            "contextBehavior": (
                "used_correctly",
                "missed_required_context",
                "ignored_irrelevant_context",
                "misused_context",
                "unclear",
            )
        },
    )
    assert [prompts.language(tag) for tag in ("en", "ja", "zh-Hans", "ko")] == [
        "English",
        "Japanese",
        "Chinese Simplified",
        "Korean",
    ]


def test_the_benchmarks_messages_by_hand(data: Path) -> None:
    root = data / "korean_context"
    folder = root / "judge-prompts"
    (step,) = read_prompt_set(folder).steps
    template = (folder / "user-template.md").read_text(encoding="utf-8").strip()
    shots = json.loads((folder / "few-shot-messages.json").read_text(encoding="utf-8"))
    head = [{"role": "system", "content": (folder / "system.md").read_text(encoding="utf-8").strip()}]
    for shot in shots:
        role = {"user": "user", "model": "assistant"}[shot["role"]]
        head.append({"role": role, "content": shot["parts"][0]["text"]})
    labels = set()
    for item in json.loads((root / "dataset" / "runtime.json").read_text(encoding="utf-8")):
        lines = []
        for number, turn in enumerate(item["contextTurns"], 1):
            label = turn["relativeTimeLabel"]
            labels.add(label is None)
            speaker = turn["speakerRole"] if label is None else f"{turn['speakerRole']}, {label}"
            lines.append(f"{number}. [{speaker}] {turn['sourceText']}")
        source = item["currentSource"]["sourceText"]
        by_hand = (
            template.replace("${targetLanguageLabel}", "Chinese Simplified")
            .replace("${contextBlock}", "\n".join(lines))
            .replace("${currentSource}", source)
            .replace("${translation}", "翻译 “x”")
        )
        turns = tuple(
            Turn(turn["speakerRole"], turn["sourceText"], turn["relativeTimeLabel"])
            for turn in item["contextTurns"]
        )
        inputs = Inputs("Korean", "Chinese Simplified", source, "翻译 “x”", context=turns)
        prompt = step.messages(inputs)
        assert prompt.messages == (*head, {"role": "user", "content": by_hand})
        assert "fence" not in prompt.hazards
    assert labels == {True, False}


def _copy(folder: Path, out: Path) -> Path:
    out.mkdir()
    for path in folder.iterdir():
        (out / path.name).write_bytes(path.read_bytes())
    return out


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("manifest.json", "{}", r"manifest\.json: .*'name' is missing"),
        ("manifest.json", '{"name": "x"}', r"manifest\.json: .*no field 'mqmClasses'"),
        ("system.md", "Judge.", r"system\.md: does not say which values 'contextBehavior' takes"),
        ("few-shot-messages.json", '[{"role": "user"}]', r"few-shot-messages\.json: must be a list"),
        (
            "few-shot-messages.json",
            '[{"role": "model", "parts": []}, {"role": "user", "parts": []}]',
            "element 1: .*role 'user'",
        ),
        (
            "user-template.md",
            "${contextBlock}\n```${currentSource}${translation}```",
            "'speaker' stands in no",
        ),
        ("user-template.md", "```${contextBlock} ${currentSource}```", "no place for the translation"),
        ("user-template.md", "```${contextBlok}```", r"user-template\.md:1: .*did you mean 'contextBlock'"),
    ],
)
def test_broken_copies_of_the_benchmarks_layout(
    data: Path, tmp_path: Path, name: str, text: str, problem: str
) -> None:
    folder = _copy(data / "korean_context" / "judge-prompts", tmp_path / "copy")
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        read_prompt_set(folder)
