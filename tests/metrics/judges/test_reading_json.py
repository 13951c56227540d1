"""Errors given as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from metrics.judges.forms import Form, Judged
from metrics.judges.reading import read_answer

LABELS = {"contextBehavior": ("used_correctly", "unclear")}
MQM = Form("mqm", json=True, labels=LABELS)
JUDGED = Judged("He sat on the bank.", "Er saß still am Ufer.")
BANK = {"severity": "major", "class": "accuracy/mistranslation", "span": "bank"}

UNDERSTOOD: dict[str, tuple[Any, list[tuple[str, str | None, str | None]]]] = {
    "none": ({"errors": []}, []),
    "one": ({"errors": [BANK]}, [("major", "accuracy/mistranslation", "bank")]),
    "category": (
        {"errors": [{"severity": "Major", "category": "Accuracy (Mistranslation)", "text": "bank"}]},
        [("major", "accuracy/mistranslation", "bank")],
    ),
    "type": (
        {"Errors": [{"severity": "MINOR", "type": "odd word", "quote": "bank"}]},
        [("minor", "odd word", "bank")],
    ),
    "no class": ({"errors": [{"severity": "minor", "span": "bank"}]}, [("minor", None, "bank")]),
    "no span": (
        {"errors": [{"severity": "critical", "class": "non-translation", "span": None}]},
        [("critical", "non-translation", None)],
    ),
    "empty span": (
        {"errors": [{"severity": "critical", "class": "non-translation", "span": ""}]},
        [("critical", "non-translation", None)],
    ),
    "severity in another language": (
        {"errors": [{"severity": "主要", "class": "other", "span": "bank"}]},
        [("major", "other", "bank")],
    ),
    "under severities": (
        {"critical": [], "major": [{"class": "accuracy/mistranslation", "span": "bank"}], "minor": []},
        [("major", "accuracy/mistranslation", "bank")],
    ),
    "errors under severities": (
        {"errors": {"major": [BANK]}},
        [("major", "accuracy/mistranslation", "bank")],
    ),
    "none under severities": ({"critical": [], "major": [], "minor": []}, []),
    "the benchmark's": (
        {
            "has_no_error": False,
            "contextBehavior": "unclear",
            "errors": [
                {
                    "severity": "major",
                    "class": "accuracy/mistranslation",
                    "target_span_text": "bank",
                    "source_span_text": None,
                    "explanation": "a shore",
                }
            ],
        },
        [("major", "accuracy/mistranslation", "bank")],
    ),
    "the benchmark's without errors": (
        {"has_no_error": True, "contextBehavior": "unclear", "errors": []},
        [],
    ),
}

DRESS = {
    "bare": "{}",
    "block": "```json\n{}\n```",
    "words around": "Here is my annotation:\n{}\nLet me know.",
    "reasoning": '<think>{{"errors": []}}</think>\n{}',
    "byte-order mark": "\ufeff{}",
}


@pytest.mark.parametrize("dress", DRESS.values(), ids=DRESS.keys())
@pytest.mark.parametrize(("value", "errors"), UNDERSTOOD.values(), ids=UNDERSTOOD.keys())
def test_objects(value: Any, errors: list[tuple[str, str | None, str | None]], dress: str) -> None:
    for indent in (None, 2):
        answer = dress.format(json.dumps(value, indent=indent, ensure_ascii=indent is None))
        verdict = read_answer(answer, MQM, JUDGED)
        assert verdict.understood, verdict.reason
        assert verdict.errors is not None
        assert [(error.severity, error.category, error.quote) for error in verdict.errors] == errors
        assert verdict.number is None


NOT_UNDERSTOOD = {
    "empty": ("", "empty"),
    "text": ('Major:\nother - "bank"', "no JSON object"),
    "refusal": ("I'm sorry, I can't do that.", "refusal"),
    "a number": ("85", "a number"),
    "a list": ('[{"severity": "major", "class": "other", "span": "bank"}]', "part of something else"),
    "an empty list": ("[]", "no JSON object"),
    "an object in a list": ('[{"errors": []}]', "part of something else"),
    "an empty object": ("{}", "no 'errors'"),
    "another object": ('{"result": {"errors": []}}', "no 'errors'"),
    "cut": ('{"errors": [{"severity": "major"}', "broken JSON"),
    "cut inside": ('{"result": {"errors": []}', "broken JSON"),
    "a bracket too many": ('{"errors": []}}', "part of something else"),
    "two": ('{"errors": []}\n{"errors": []}', "more than one JSON object"),
    "a key twice": ('{"errors": [], "errors": [{"severity": "major"}]}', "twice"),
    "a key twice by case": ('{"errors": [], "Errors": []}', "twice"),
    "a key twice inside": ('{"errors": [{"severity": "major", "severity": "minor"}]}', "twice"),
    "not JSON": ('{"errors": [], "share": NaN}', "not JSON"),
    "infinite": ('{"errors": [], "share": -Infinity}', "not JSON"),
    "single quotes": ("{'errors': []}", "no JSON object"),
    "a comma too many": ('{"errors": [],}', "broken JSON"),
    "errors null": ('{"errors": null}', "neither a list"),
    "errors a text": ('{"errors": "none"}', "neither a list"),
    "errors an empty object": ('{"errors": {}}', "names no severity"),
    "errors an object of something": ('{"errors": {"severe": []}}', "no severity"),
    "an error a text": ('{"errors": ["bank"]}', "no object"),
    "an error null": ('{"errors": [null]}', "no object"),
    "no severity": ('{"errors": [{"class": "other", "span": "bank"}]}', "severity"),
    "severity null": ('{"errors": [{"severity": null}]}', "severity"),
    "severity a number": ('{"errors": [{"severity": 2}]}', "severity"),
    "unknown severity": ('{"errors": [{"severity": "severe"}]}', "'severe'"),
    "no severity by name": ('{"errors": [{"severity": "none"}]}', "'none'"),
    "span a list": ('{"errors": [{"severity": "major", "span": ["bank"]}]}', "no text"),
    "class a number": ('{"errors": [{"severity": "major", "class": 3}]}', "no text"),
    "source a number": ('{"errors": [{"severity": "major", "source_span": 3}]}', "no text"),
    "half a character": ('{"errors": [{"severity": "major", "span": "\\ud800"}]}', "half a character"),
    "flag against errors": ('{"has_no_error": true, "errors": [{"severity": "major"}]}', "has_no_error"),
    "flag against none": ('{"has_no_error": false, "errors": []}', "has_no_error"),
    "flag a text": ('{"has_no_error": "yes", "errors": []}', "has_no_error"),
    "an error in words": ('{"errors": [], "error": "I cannot judge"}', "refusal"),
    "a refusal as a flag": ('{"errors": [], "refusal": true}', "refusal"),
    "a refusal as a note": ('{"errors": [], "note": "I cannot judge this"}', "refusal"),
    "a refusal in front": ('I cannot judge this. {"errors": []}', "refusal"),
    "an example": ('For example, a perfect translation would be {"errors": []}.', "supposed"),
    "a severity no list": ('{"critical": {}, "major": [], "minor": []}', "no list"),
    "a severity alone": ('{"critical": []}', "not every severity"),
    "a severity twice": ('{"critical": [], "致命": []}', "two lists"),
    "another severity inside": ('{"major": [{"severity": "minor"}]}', "among the major"),
    "deep": ('{"errors": ' + "[" * 100_000, "broken JSON"),
    "deep and closed": ('{"errors": ' + "[" * 100_000 + "]" * 100_000 + "}", "broken JSON"),
    "a huge number": ('{"errors": [], "n": ' + "9" * 5000 + "}", "broken JSON"),
}


@pytest.mark.parametrize(("answer", "reason"), NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD.keys())
def test_what_is_no_object_in_form_is_not_understood(answer: str, reason: str) -> None:
    verdict = read_answer(answer, MQM, JUDGED)
    assert not verdict.understood, verdict
    assert reason in verdict.reason
    assert (verdict.number, verdict.errors, verdict.labels) == (None, None, {})


def test_a_text_form_believes_no_object() -> None:
    assert "JSON" in read_answer('{"errors": []}', Form("mqm"), JUDGED).reason


def test_labels_are_keys() -> None:
    for key, said, label in (
        ("contextBehavior", "unclear", "unclear"),
        ("context_behavior", "Used correctly", "used_correctly"),
        ("contextBehavior", "perhaps", None),
        ("contextBehavior", 3, None),
    ):
        verdict = read_answer(json.dumps({"errors": [], key: said}), MQM, JUDGED)
        assert verdict.understood
        assert verdict.labels == ({} if label is None else {"contextBehavior": label})


def test_an_omission_has_its_place_in_the_source() -> None:
    error = {
        "severity": "minor",
        "class": "accuracy/omission",
        "target_span_text": None,
        "source_span_text": "still",
    }
    verdict = read_answer(json.dumps({"errors": [error]}), MQM, JUDGED)
    assert verdict.errors is not None
    (found,) = verdict.errors
    assert found.span is None
    assert found.source is not None
    assert (found.source.start, found.source.end, found.source.text) == (7, 12, "still")
    assert found.quote == "still"


def test_esa_wants_errors_and_a_score() -> None:
    form = Form("esa", json=True)
    verdict = read_answer(json.dumps({"errors": [BANK], "score": 77}), form, JUDGED)
    assert verdict.errors is not None
    assert (verdict.number, len(verdict.errors)) == (77.0, 1)
    assert read_answer('{"errors": [], "score": "77/100"}', form, JUDGED).number == 77
    for answer in (
        '{"errors": []}',
        '{"score": 77}',
        '{"errors": [], "score": 177}',
        '{"errors": [], "score": null}',
    ):
        assert not read_answer(answer, form, JUDGED).understood
