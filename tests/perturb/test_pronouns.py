"""Pronouns: case, agreement, and what is bound to them."""

from __future__ import annotations

import random

import pytest

from challenge_sets import Translation
from challenge_sets.languages import english
from perturb import PERTURBATIONS, Example, apply_changes


def outcomes(text: str, seed: int = 1) -> list[str]:
    translation = Translation("i", "s", "原文", text, "lzh", "en", "d")
    example = Example(translation, next(iter(english.parse([text]))))
    found = PERTURBATIONS["pronoun"]().candidates(example, random.Random(seed))
    return [apply_changes(text, changes)[0] for changes in found]


@pytest.mark.parametrize(
    ("text", "perturbed"),
    [
        ("He was angry.", {"She was angry."}),
        ("The king praised him.", {"The king praised her."}),
        ("Her brother left the city.", {"His brother left the city."}),
        ("The people saw that we were tired.", {"The people saw that they were tired."}),
        ("The queen called us.", {"The queen called them."}),
        (
            "I am tired.",
            {"He is tired.", "She is tired.", "You are tired."},
        ),
        ("I'm tired.", {"He's tired.", "She's tired.", "You're tired."}),
        ("Now I have a house.", {"Now he has a house.", "Now she has a house.", "Now you have a house."}),
        ("You go to Lu.", {"They go to Lu.", "He goes to Lu.", "She goes to Lu.", "I go to Lu."}),
    ],
)
def test_pronoun_points_at_somebody_else(text: str, perturbed: set[str]) -> None:
    found = {outcome for seed in range(20) for outcome in outcomes(text, seed)}
    assert found == perturbed


@pytest.mark.parametrize(
    "text",
    [
        "He hurt himself.",
        "It is raining.",
        "Thank you for the letter.",
        "The king shook his head.",
        "Your Majesty is kind.",
        "The house was built of wood.",
        "Your lordship governs well.",
        "Let me see the letter.",
    ],
)
def test_pronoun_is_left_alone(text: str) -> None:
    assert outcomes(text) == []


def test_the_only_pronoun_of_its_kind_comes_first() -> None:
    text = "He loved his father. The queen sent her a letter."
    assert outcomes(text)[0] == "He loved his father. The queen sent him a letter."
