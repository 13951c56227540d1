import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from challenge_sets import Edit, Generator, Pair, Score, Span, Translation, Turn
from challenge_sets.edits import diff

GENERATOR = Generator("number", "1", "rule", 7)
TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=40)


def pair(original: str, perturbed: str, edits: tuple[Edit, ...], kind: str = "error") -> Pair:
    return Pair("p", "i", "s", "c", kind, original, perturbed, edits, "major", GENERATOR)  # type: ignore[arg-type]


def test_translation_survives_json() -> None:
    translation = Translation(
        item="i",
        system="s",
        source="원문",
        hypothesis="text",
        source_lang="ko",
        target_lang="en",
        doc="d",
        position=2,
        reference="ref",
        context=(Turn("self", "하나"), Turn("other", "둘", "yesterday")),
        domain="conversation",
        meta={"k": [1, None]},
    )
    assert Translation.from_json(json.loads(json.dumps(translation.to_json()))) == translation


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("item", "", "must not be empty"),
        ("item", None, "'item' is missing"),
        ("position", -1, "counts from 0"),
        ("position", True, "not a whole number"),
        ("hypothesis", None, "'hypothesis' is missing"),
        ("reference", 3, "not a string"),
        ("meta", "x", "not an object"),
    ],
)
def test_a_translation_that_breaks_its_contract(field: str, value: object, problem: str) -> None:
    good = Translation("i", "s", "a", "b", "en", "de", "d").to_json()
    with pytest.raises(ValueError, match=problem):
        Translation.from_json(good | {field: value})


def test_an_empty_hypothesis_is_a_text_and_a_missing_reference_is_none() -> None:
    translation = Translation("i", "s", "a", "", "en", "de", "d")
    assert translation.hypothesis == ""
    assert translation.reference is None


@pytest.mark.parametrize(
    ("perturbed", "edits", "problem"),
    [
        ("two apples", (), "same text"),
        ("six apples", (), "differ outside"),
        ("six apples", (Edit(Span(0, 3, "six"), Span(0, 3, "six")),), "of the text is not 'six'"),
        ("six pears", (Edit(Span(0, 3, "two"), Span(0, 3, "six")),), "differ outside"),
    ],
)
def test_a_pair_must_be_what_its_edits_say(perturbed: str, edits: tuple[Edit, ...], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        pair("two apples", perturbed, edits)


def test_a_pair_survives_json_and_controls_may_be_identical() -> None:
    made = pair("two apples", "six apples", (Edit(Span(0, 3, "two"), Span(0, 3, "six")),))
    assert Pair.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert pair("same", "same", (), "control").edits == ()


@pytest.mark.parametrize(("start", "end", "text"), [(-1, 0, "a"), (2, 1, ""), (0, 2, "a")])
def test_a_span_must_fit_its_text(start: int, end: int, text: str) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Span(start, end, text)


@pytest.mark.parametrize(("status", "value"), [("ok", None), ("failed", 0.0), ("strange", None)])
def test_a_missing_score_has_no_value(status: str, value: float | None) -> None:
    with pytest.raises(ValueError, match="status"):
        Score("m", "m", "segment", value, None, status)  # type: ignore[arg-type]


@given(TEXT, TEXT)
def test_diff_finds_edits_that_make_a_valid_pair(original: str, perturbed: str) -> None:
    edits = diff(original, perturbed)
    assert (not edits) == (original == perturbed)
    pair(original, perturbed, edits, "control")  # validates: equal outside the edits


def test_diff_is_by_word_and_by_character_in_cjk() -> None:
    (edit,) = diff("He left the town.", "He left a town.")
    assert (edit.original.text, edit.perturbed.text) == ("the", "a")
    (edit,) = diff("他有三个孩子", "他有四个孩子")
    assert (edit.original.text, edit.perturbed.text) == ("三", "四")
