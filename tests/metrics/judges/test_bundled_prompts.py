"""The bundled prompt sets: what they ask for, and examples that are answers of the very form asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import metrics.judges
from challenge_sets import InputError, Turn
from metrics.judges.forms import Judged
from metrics.judges.prompt_sets import Inputs, PromptSet, Step, bundled, bundled_names
from metrics.judges.reading import read_answer
from metrics.requests import Segment

FOLDER = Path(metrics.judges.__file__).parent / "prompts"
BEHAVIOURS = (
    "used_correctly",
    "missed_required_context",
    "ignored_irrelevant_context",
    "misused_context",
    "unclear",
)
ITEM = Inputs(
    "Korean",
    "English",
    "근데 재고가 없대.",
    "But they say it is out of stock.",
    "But apparently it's sold out.",
    (Turn("other", "샀어?", "1 hour ago"), Turn("self", "아니.")),
    (Segment("One.", "하나.", "First."), Segment("Two.", "둘.", "Second.")),
)


def system_and_user(name: str, structured: bool = False) -> tuple[str, str]:
    messages = bundled(name).steps[0].messages(ITEM, structured).messages
    assert messages[0]["role"] == "system"
    return messages[0]["content"], messages[-1]["content"]


def test_the_sets_that_there_are() -> None:
    assert set(bundled_names()) == {
        f"{name}{suffix}"
        for name in ("mqm", "mqm-context", "da", "esa", "document-da")
        for suffix in ("", "-ref")
    }
    assert {path.name for path in FOLDER.iterdir()} == {name.removesuffix("-ref") for name in bundled_names()}
    with pytest.raises(InputError, match="no prompt set 'mqm-contxt', did you mean 'mqm-context'"):
        bundled("mqm-contxt")


@pytest.mark.parametrize("name", bundled_names())
def test_each_set(name: str) -> None:
    prompts = bundled(name)
    assert prompts.name == name
    assert ("reference" in prompts.needs) == name.endswith("-ref")
    assert ("context" in prompts.needs) == ("context" in name)
    assert ("document" in prompts.needs) == (prompts.unit == "document") == name.startswith("document")
    assert "source" in prompts.needs
    assert prompts.structured
    assert prompts.higher_is_better != name.startswith("mqm")
    assert prompts.typical_tokens < prompts.max_tokens
    if name.startswith("mqm"):
        assert prompts.scoring is not None
        assert prompts.scoring.cap is None and prompts.scoring.most_errors is None
    else:
        assert prompts.scoring is None
    (step,) = prompts.steps
    assert dict(step.form.labels) == ({"contextBehavior": BEHAVIOURS} if "context" in name else {})
    assert not step.form_for(False).json and step.form_for(True).json


def test_sets_differ_in_their_digests() -> None:
    assert len({bundled(name).digest for name in bundled_names()}) == len(bundled_names())


@pytest.mark.parametrize("name", bundled_names())
def test_a_reference_is_spoken_of_where_there_is_one(name: str) -> None:
    system, user = system_and_user(name)
    assert ("eference" in system) == ("<reference>" in user) == name.endswith("-ref")


@pytest.mark.parametrize("name", [name for name in bundled_names() if not name.endswith("-ref")])
def test_a_pair_differs_in_the_reference_alone(name: str) -> None:
    without, with_one = system_and_user(name)[0].splitlines(), system_and_user(f"{name}-ref")[0].splitlines()
    extra = [line for line in with_one if line not in without]
    assert [line for line in with_one if line not in extra] == without
    assert len(extra) == 1 and "reference" in extra[0]


@pytest.mark.parametrize("name", bundled_names())
def test_the_words_name_everything_that_is_asked_for(name: str) -> None:
    (step,) = bundled(name).steps
    for structured in (False, True):
        system, _ = system_and_user(name, structured)
        assert "do not obey them" in system
        assert ("JSON object and nothing else" in system) == structured
        if step.form.kind != "number":
            for each in (*step.form.classes, *step.form.severities):
                assert f"- {each}:" in system
        for label, values in step.form.labels.items():
            assert label in system and all(f"- {value}:" in system for value in values)


@pytest.mark.parametrize("name", bundled_names())
def test_the_schema_asks_for_the_form(name: str) -> None:
    (step,) = bundled(name).steps
    assert step.schema is not None
    properties = step.schema["properties"]
    wanted = {"mqm": {"errors"}, "number": {"score"}, "esa": {"errors", "score"}}[step.form.kind]
    assert set(properties) == wanted | set(step.form.labels)
    if "errors" in properties:
        error = properties["errors"]["items"]["properties"]
        assert tuple(error["class"]["enum"]) == step.form.classes
        assert tuple(error["severity"]["enum"]) == step.form.severities
    for label, values in step.form.labels.items():
        assert tuple(properties[label]["enum"]) == values


def _judged(asked: Inputs) -> Judged:
    return Judged(asked.hypothesis, asked.source, tuple(turn.text for turn in asked.context))


def _examples(name: str) -> list[tuple[Inputs, str, str]]:
    found = []
    for shot in bundled(name).steps[0].shots:
        assert isinstance(shot.asked, Inputs) and shot.answer is not None and shot.json is not None
        found.append((shot.asked, shot.answer, shot.json))
    return found


@pytest.mark.parametrize("name", [name for name in bundled_names() if "da" not in name])
def test_examples_are_answers_of_the_form(name: str) -> None:
    prompts = bundled(name)
    (step,) = prompts.steps
    examples = _examples(name)
    assert len({(asked.source_lang, asked.target_lang) for asked, _, _ in examples}) == len(examples) >= 2
    without_errors = 0
    for asked, text, as_json in examples:
        verdicts = [
            read_answer(text, step.form_for(False), _judged(asked)),
            read_answer(as_json, step.form_for(True), _judged(asked)),
        ]
        assert verdicts[0].understood and verdicts[1].understood, verdicts
        assert verdicts[0].errors is not None and verdicts[1].errors is not None
        without_errors += not verdicts[0].errors
        facts = [
            sorted((each.category, each.severity, each.quote) for each in verdict.errors or ())
            for verdict in verdicts
        ]
        assert facts[0] == facts[1]
        assert verdicts[0].number == verdicts[1].number
        assert dict(verdicts[0].labels) == dict(verdicts[1].labels)
        assert set(verdicts[0].labels) == set(step.form.labels)
        for error in verdicts[0].errors:
            assert error.category in step.form.classes
            assert error.span is not None or error.category == "accuracy/omission"
            assert error.span is not None or error.source is not None
        check_against_schema(json.loads(as_json), step)
        assert text == written(json.loads(as_json), step)
    assert without_errors >= 1


def check_against_schema(value: dict[str, Any], step: Step) -> None:
    assert step.schema is not None
    assert list(value) == list(step.schema["properties"])
    item = step.schema["properties"]["errors"]["items"]
    for error in value["errors"]:
        assert list(error) == list(item["properties"])
        for key, each in error.items():
            assert each in item["properties"][key].get("enum", [each])


def written(value: dict[str, Any], step: Step) -> str:
    """The text form of a JSON answer."""
    lines = []
    for severity in step.form.severities:
        errors = [error for error in value["errors"] if error["severity"] == severity]
        lines.append(f"{severity.capitalize()}:")
        lines += [f'{error["class"]} - "{error["span"]}"' for error in errors] or ["no-error"]
    lines += [f"{label}: {value[label]}" for label in step.form.labels]
    return "\n".join(lines + ([f"Score: {value['score']}"] if "score" in value else []))


@pytest.mark.parametrize("name", ["mqm-context", "mqm-context-ref"])
def test_turns_stand_before_the_source(name: str) -> None:
    _, user = system_and_user(name)
    parts = ["other", "1 hour ago", "샀어?", "self", "아니.", ITEM.source, "<translation>", ITEM.hypothesis]
    places = [user.index(part) for part in parts]
    assert places == sorted(places)
    assert user.count("<time>") == 1


@pytest.mark.parametrize("name", ["document-da", "document-da-ref"])
def test_segments_are_numbered(name: str) -> None:
    _, user = system_and_user(name)
    parts = ["Segment 1", "하나.", "One.", "Segment 2", "둘.", "Two."]
    places = [user.index(part) for part in parts]
    assert places == sorted(places)
    assert user.count("<translation>") == user.count("</translation>") == 2
    assert user.count("<reference>") == (2 if name.endswith("-ref") else 0)


@pytest.mark.parametrize("name", bundled_names())
def test_messages_do_not_end_in_white_space(name: str) -> None:
    prompts: PromptSet = bundled(name)
    for structured in (False, True):
        for message in prompts.steps[0].messages(ITEM, structured).messages:
            assert message["content"] == message["content"].strip()
            assert "\n\n\n" not in message["content"]
