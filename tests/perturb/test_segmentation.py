"""Segmentation: the words stay, the sentences are whole."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from challenge_sets import Translation
from challenge_sets.languages import english
from perturb import PERTURBATIONS, Example, NotApplicableError, apply_changes, make_pair


def example_of(text: str) -> Example:
    return Example(
        Translation(text[:40], "s", "原文", text, "lzh", "en", "d"), next(iter(english.parse([text])))
    )


def outcomes(text: str) -> set[str]:
    found = PERTURBATIONS["segmentation"]().candidates(example_of(text), random.Random(1))
    return {apply_changes(text, changes)[0] for changes in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The army crossed the river; the people fled to the hills.",
            "The army crossed the river. The people fled to the hills.",
        ),
        (
            "The army crossed the wide river, and the people fled to the hills.",
            "The army crossed the wide river. And the people fled to the hills.",
        ),
        (
            "The work was finished in August, but it did not open until March.",
            "The work was finished in August. But it did not open until March.",
        ),
        ("The king died young. He had no son.", "The king died young; he had no son."),
        ("I missed the call today. I will try again.", "I missed the call today; I will try again."),
        ("The king was very old. But he ruled well.", "The king was very old, but he ruled well."),
    ],
)
def test_clauses_are_split_and_joined(text: str, expected: str) -> None:
    assert outcomes(text) == {expected}


@pytest.mark.parametrize(
    "text",
    [
        "He bought apples, pears, and plums.",
        "He came home, and ate his dinner in the kitchen.",
        "They are rich; poor in spirit.",
        "He saw a lake; a river; and a hill.",
        "When the sun rose over the hills, and the birds sang in the trees, he left.",
        'She said, "I will come tomorrow, and you will wait for me here."',
        "He met Mr. Li. What did he say?",
        "The king rose (he was angry; he left the hall) and spoke.",
    ],
)
def test_no_fragment_no_list_no_quotation(text: str) -> None:
    assert not outcomes(text)


@pytest.mark.data
def test_words_stay_the_same_up_to_case(data: Path) -> None:
    with (data / "demetr" / "major_id17_tense.json").open(encoding="utf-8") as stream:
        texts = [row["mt_sent"] for row in json.load(stream)[:150]]
    made = 0
    for text in texts:
        try:
            pair = make_pair(PERTURBATIONS["segmentation"](), example_of(text), 2)
        except NotApplicableError:
            continue
        made += 1
        before, after = (re.findall(r"\w+", side.lower()) for side in (pair.original, pair.perturbed))
        assert before == after
        assert not re.search(r"[.!?] [a-z]", pair.perturbed[pair.edits[0].perturbed.start :][:3])
    assert made
