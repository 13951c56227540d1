"""Omitted subjects and objects: what is left out, what is mended, and what is left alone."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from challenge_sets import Translation
from challenge_sets.languages import english
from perturb import PERTURBATIONS, Example, NotApplicableError, apply_changes, make_pair
from perturb.rules.edits import begins_sentence, delete, replace_word


def outcomes(category: str, text: str, seed: int = 1) -> list[str]:
    """Every text that the category proposes, best first."""
    translation = Translation("i", "s", "原文", text, "lzh", "en", "d")
    example = Example(translation, next(iter(english.parse([text]))))
    found = PERTURBATIONS[category]().candidates(example, random.Random(seed))
    return [apply_changes(text, changes)[0] for changes in found]


@pytest.mark.parametrize(
    ("text", "perturbed"),
    [
        ("The king drew his sword.", "Drew his sword."),
        ("In 1950, she moved to Paris with her mother.", "In 1950, moved to Paris with her mother."),
        (
            "The duke was angry because the envoy had lied.",
            "The duke was angry because had lied.",
        ),
        (
            'Confucius said: "They have already left the city."',
            'Confucius said: "Have already left the city."',
        ),
        ("I stayed at home because I'm tired of the rain.", "I stayed at home because am tired of the rain."),
    ],
)
def test_subject_is_omitted_and_the_rest_mended(text: str, perturbed: str) -> None:
    assert perturbed in outcomes("omitted_subject", text)


@pytest.mark.parametrize(
    "text",
    [
        "You go home after the meeting.",  # would be an order
        "They do not fear the enemy at all.",  # would be an order
        "It is said that the river is deep.",  # impersonal
        "There is a tall tree near the gate.",
        "He is the man who killed the king, isn't he?",
        "What did the king say to them?",
        "No one dares to speak.",
        "Go home now.",
        "Alright, I got it now.",
        "I finished it yesterday.",
    ],
)
def test_subject_is_kept_where_english_would_read_on(text: str) -> None:
    assert outcomes("omitted_subject", text) == []


def test_a_joined_clause_keeps_a_subject_that_may_be_the_first_ones() -> None:
    # "and ran away" is right where both are the same man, and wrong where they are not.
    assert outcomes("omitted_subject", "He drew his sword and he ran away.") == [
        "Drew his sword and he ran away."
    ]
    assert "The king drew his sword, and ran away." in outcomes(
        "omitted_subject", "The king drew his sword, and the envoys ran away."
    )


@pytest.mark.parametrize(
    ("text", "perturbed"),
    [
        ("The general defeated the enemy.", "The general defeated."),
        ("He received the letter from his brother.", "He received from his brother."),
        ("She wanted to protect her son, but failed.", "She wanted to protect, but failed."),
        ("The soldiers captured it in the night.", "The soldiers captured in the night."),
    ],
)
def test_object_is_omitted(text: str, perturbed: str) -> None:
    assert outcomes("omitted_object", text) == [perturbed]


@pytest.mark.parametrize(
    "text",
    [
        "He killed himself.",
        "The meeting took place in Lu.",
        "He captured the city and burned it.",  # "captured and burned it" shares the object
        "They appointed him king.",
        "She sent him a letter.",
        "This is the letter that he sent.",
        "He destroyed the house that his father had built.",
        "The city was captured by the enemy.",
        "He slept well.",
    ],
)
def test_object_is_kept_where_the_gap_would_not_show(text: str) -> None:
    assert outcomes("omitted_object", text) == []


def test_without_a_parse_the_category_says_so() -> None:
    example = Example(Translation("i", "s", "x", "He left.", "ko", "en", "d"))
    with pytest.raises(NotApplicableError, match="parse"):
        make_pair(PERTURBATIONS["omitted_subject"](), example, 1)


@pytest.mark.parametrize(
    ("text", "removed", "left"),
    [
        ("He left.", "He", "Left."),
        ("Now he left.", "he", "Now left."),
        ('He said, "I went home."', "I", 'He said, "Went home."'),
        ("She, however, left.", "She", "However, left."),
        ("He killed the duke.", "the duke", "He killed."),
        ("He came, the king, and left.", "the king", "He came, and left."),
        ("(He left.)", "He", "(Left.)"),
        ("One says: 'I cannot.'", "I", "One says: 'Cannot.'"),
        ("One. He left", "He", "One. Left"),
        ("A\nHe left", "He", "A\nLeft"),
        ("iPhone works", "iPhone", "works"),
    ],
)
def test_delete_mends_spaces_commas_and_capitals(text: str, removed: str, left: str) -> None:
    start = text.index(removed)
    assert apply_changes(text, [delete(text, start, start + len(removed))])[0] == left


@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        ("He ate an apple.", "apple", "pear", "He ate a pear."),
        ("A duke came.", "duke", "earl", "An earl came."),
        ("It took an hour.", "hour", "unit", "It took a unit."),
        ("I went.", "I", "he", "He went."),
        ("Then I went.", "I", "he", "Then he went."),
        ("She went.", "She", "I", "I went."),
        ("HE WENT.", "HE", "she", "SHE WENT."),
    ],
)
def test_replace_word_keeps_case_and_mends_the_article(text: str, old: str, new: str, result: str) -> None:
    start = text.index(old)
    assert apply_changes(text, [replace_word(text, start, start + len(old), new)])[0] == result


def test_a_closing_quote_opens_no_sentence() -> None:
    text = 'It is "Friday," he said: "No."'
    assert not begins_sentence(text, text.index("he"))
    assert begins_sentence(text, text.index("No"))


@pytest.mark.data
def test_real_outputs_stay_well_formed(data: Path) -> None:
    rows = json.loads((data / "demetr" / "major_id17_tense.json").read_text(encoding="utf-8"))[:80]
    texts = [row["mt_sent"] for row in rows]
    made = dict.fromkeys(("omitted_subject", "omitted_object", "tense", "negation", "pronoun"), 0)
    for number, parse in enumerate(english.parse(texts)):
        translation = Translation(str(number), "s", "x", parse.text, "de", "en", "d")
        for name in made:
            try:
                pair = make_pair(PERTURBATIONS[name](), Example(translation, parse), seed=3)
            except NotApplicableError:
                continue
            made[name] += 1
            # Nothing that the original did not have: no doubled space, no stranded comma, no lost capital.
            for odd in (r"  ", r" [,.;]", r",[,.]", r"^[a-z]"):
                assert len(re.findall(odd, pair.perturbed)) <= len(re.findall(odd, pair.original)), pair
            assert make_pair(PERTURBATIONS[name](), Example(translation, parse), seed=3) == pair
    assert made["omitted_subject"] >= 30 and made["omitted_object"] >= 4
    assert min(made["tense"], made["negation"], made["pronoun"]) >= 10
