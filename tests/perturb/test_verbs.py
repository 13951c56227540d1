"""Tense and negation: forms, agreement, do-support, and the clauses that are left alone."""

from __future__ import annotations

import random

import pytest

from challenge_sets import Translation
from challenge_sets.languages import english
from perturb import PERTURBATIONS, Example, apply_changes
from perturb.rules import clauses


def outcomes(category: str, text: str) -> list[str]:
    translation = Translation("i", "s", "原文", text, "lzh", "en", "d")
    example = Example(translation, next(iter(english.parse([text]))))
    found = PERTURBATIONS[category]().candidates(example, random.Random(1))
    return [apply_changes(text, changes)[0] for changes in found]


@pytest.mark.parametrize(
    ("text", "perturbed"),
    [
        ("The duke attacked the city of Wei.", "The duke will attack the city of Wei."),
        ("She quickly finished the long letter.", "She will quickly finish the long letter."),
        ("The king was angry with his minister.", "The king is angry with his minister."),
        ("The roads are dangerous in winter.", "The roads were dangerous in winter."),
        ("The minister will visit Berlin in May.", "The minister visited Berlin in May."),
        ("The gate will be closed at night.", "The gate was closed at night."),
        ("The troops have crossed the river.", "The troops will cross the river."),
        ("He won the race last year.", "He wins the race last year."),
        ("They did not attack the city.", "They will not attack the city."),
        ("The report will not change the law.", "The report did not change the law."),
    ],
)
def test_tense_moves_with_its_auxiliaries(text: str, perturbed: str) -> None:
    assert outcomes("tense", text) == [perturbed]


@pytest.mark.parametrize(
    "text",
    [
        'Confucius said: "Good."',  # telling a text is timeless
        "He came and saw the city.",  # two verbs share the subject
        "If he comes, the king will be glad.",
        "He can swim across the river.",
        "Did he leave the house?",
        "Water is a liquid at this temperature.",  # a definition
        "A long list of names.",
    ],
)
def test_tense_leaves_alone(text: str) -> None:
    assert outcomes("tense", text) == []


@pytest.mark.parametrize(
    ("text", "perturbed"),
    [
        ("The duke attacked the city.", "The duke did not attack the city."),
        ("The river flows to the sea.", "The river does not flow to the sea."),
        ("The roads are dangerous.", "The roads are not dangerous."),
        ("He can cross the river.", "He cannot cross the river."),
        ("He has seen the letter.", "He has not seen the letter."),
        ("They did not attack the city.", "They attacked the city."),
        ("She doesn't like the house.", "She likes the house."),
        ("The king was not angry.", "The king was angry."),
        ("He cannot cross the river.", "He can cross the river."),
        ("You can't cross the river.", "You can cross the river."),
    ],
)
def test_negation_turns_the_clause_around(text: str, perturbed: str) -> None:
    assert outcomes("negation", text) == [perturbed]


@pytest.mark.parametrize(
    "text",
    [
        "He did not see anyone.",  # "anyone" needs its negation
        "All the men are brave.",  # "are not" would be ambiguous
        "He came and saw the city.",
        "I hope the king is well?",
        "It was not the king but the duke.",
        "There is a tree near the gate.",
    ],
)
def test_negation_leaves_alone(text: str) -> None:
    assert outcomes("negation", text) == []


@pytest.mark.parametrize(
    ("lemma", "who", "present", "past"),
    [
        ("be", 1, "am", "was"),
        ("be", 4, "are", "were"),
        ("have", 3, "has", "had"),
        ("go", 3, "goes", "went"),
        ("hope", 4, "hope", "hoped"),
        ("zzzz", 3, None, None),
        ("", 3, None, None),
    ],
)
def test_forms(lemma: str, who: int, present: str | None, past: str | None) -> None:
    assert (clauses.present(lemma, who), clauses.past(lemma, who)) == (present, past)


def test_a_lemma_must_give_the_word_back() -> None:
    doc = next(iter(english.parse(["The group hopes to win the game."])))
    assert [clauses.lemma_of(token) for token in doc if token.tag_ == "VBZ"] == ["hope"]
