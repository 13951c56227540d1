"""Word order in English (from the parse) and in German (from closed classes)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from challenge_sets import Translation
from challenge_sets.languages import english
from perturb import PERTURBATIONS, Example, NotApplicableError, apply_changes, make_pair
from perturb.rules.german_order import german_moves


def english_outcomes(text: str) -> list[str]:
    translation = Translation("i", "s", "原文", text, "lzh", "en", "d")
    example = Example(translation, next(iter(english.parse([text]))))
    found = PERTURBATIONS["word_order"]().candidates(example, random.Random(1))
    return [apply_changes(text, changes)[0] for changes in found]


def german_outcomes(text: str) -> list[str]:
    return [apply_changes(text, [move])[0] for moves in german_moves(text) for move in moves]


@pytest.mark.parametrize(
    ("text", "perturbed"),
    [
        ("They lived in the old house.", "They lived in the house old."),
        ("It was an old house.", "It was a house old."),
        ("The envoy saw a black eagle.", "The envoy saw an eagle black."),
        ("He killed the duke.", "He the duke killed."),
        ("The city was built.", "The city built was."),
        ("Where are you going?", "Where you are going?"),
    ],
)
def test_english_moves(text: str, perturbed: str) -> None:
    assert perturbed in english_outcomes(text)


@pytest.mark.parametrize(
    "text",
    ["The people present agreed.", "He came.", "The attorney general left.", "The last time was better."],
)
def test_english_without_a_certain_move(text: str) -> None:
    assert english_outcomes(text) == []


@pytest.mark.parametrize(
    ("text", "perturbed"),
    [
        (
            "Ich weiß, dass er nach Hause gegangen ist.",
            "Ich weiß, dass er ist nach Hause gegangen.",
        ),
        ("Sie hat das Buch gelesen.", "Sie hat gelesen das Buch."),
        ("Heute gehe ich nach Hause.", "Heute ich gehe nach Hause."),
        ("Das ist nicht wahr.", "Das nicht ist wahr."),
        ("Wir sahen ein altes Haus.", "Wir sahen ein Haus altes."),
    ],
)
def test_german_moves(text: str, perturbed: str) -> None:
    assert german_outcomes(text) == [perturbed]


@pytest.mark.parametrize(
    "text",
    [
        "Er kam.",
        "Die Gräber wurden am Donnerstag eingeweiht.",  # "wurden eingeweiht am Donnerstag" may stand
        "Die Frau, der sie Zeit gab.",
        "Das sind alle Menschen.",
        "Die unter Druck stehen, gehen.",
    ],
)
def test_german_leaves_alone(text: str) -> None:
    assert german_outcomes(text) == []


@given(st.text(alphabet="dasßeröünicht hatGelsngB.,!?", max_size=80))
def test_german_moves_keep_every_letter(text: str) -> None:
    for outcome in german_outcomes(text):
        assert sorted(outcome.replace(" ", "")) == sorted(text.replace(" ", ""))
        assert "  " not in outcome or "  " in text


@pytest.mark.data
def test_german_outputs_give_valid_pairs(data: Path) -> None:
    path = data / "wmt23" / "system-outputs" / "en-de" / "ONLINE-W.txt"
    lines = path.read_text(encoding="utf-8").split("\n")[:200]
    made = 0
    for number, line in enumerate(lines):
        try:
            pair = make_pair(
                PERTURBATIONS["word_order"](),
                Example(Translation(str(number), "s", "x", line, "en", "de", "d")),
                seed=1,
            )
        except NotApplicableError:
            continue
        made += 1
        assert sorted(pair.original.split()) != [] and pair.severity == "minor"
        assert len(pair.edits) == 1
        assert sorted(pair.perturbed.replace(" ", "")) == sorted(line.replace(" ", ""))
    assert made >= 60
