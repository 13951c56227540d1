"""Lexical errors and titles: the right words, in the right sense, rightly inflected."""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from challenge_sets import Translation
from challenge_sets.languages import english
from perturb import PERTURBATIONS, Example, NotApplicableError, apply_changes, make_pair
from perturb.rules.tables import alternation, read_groups, read_lines, read_rows


def outcomes(category: str, text: str, *, source_lang: str = "lzh", seeds: int = 12) -> set[str]:
    translation = Translation("i", "s", "原文", text, source_lang, "en", "d")
    example = Example(translation, next(iter(english.parse([text]))))
    perturbation = PERTURBATIONS[category]()
    return {
        apply_changes(text, changes)[0]
        for seed in range(seeds)
        for changes in perturbation.candidates(example, random.Random(seed))
    }


@pytest.mark.parametrize(
    ("text", "perturbed"),
    [
        ("The horses crossed the border.", "The oxen crossed the border."),
        ("He bought the house of his neighbor.", "He sold the house of his neighbor."),
        ("They are buying a farm.", "They are selling a farm."),
        ("The army attacked the city.", "The army defended the city."),
        ("It was an easy task.", "It was a difficult task."),
        ("My elder brother came home.", "My younger brother came home."),
        ("The largest ship sank.", "The smallest ship sank."),
        ("He was angry.", "He was happy."),
        ("The rain stopped in spring.", "The rain stopped in autumn."),
        ("She refused to come.", "She agreed to come."),
        ("The old man wept.", "The young man wept."),
        ("We meet on Monday.", "We meet on Thursday."),
        ("He died before the battle.", "He died after the battle."),
    ],
)
def test_lexical_replaces_one_word_in_its_form(text: str, perturbed: str) -> None:
    assert perturbed in outcomes("lexical", text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The Spring and Autumn Annals say so.", "Spring and Autumn"),
        ("He stood in front of the gate as well as he could.", "as well as"),
        ("On the other hand, he left.", "hand"),
        ("They went to the Red Sea in the morning.", "Red Sea"),
        ("It is no longer here.", "longer"),
        ("The Son of Heaven arrived.", "Son of Heaven"),
        ("At the new moon he came.", "moon"),
        ("He took advantage of them.", "advantage"),
        ("Please allow me to learn.", "allow"),
        ("North and south were at peace.", "North and south"),
        ("The well-fed horse-drawn cart came.", "horse-drawn"),
    ],
)
def test_lexical_leaves_fixed_phrases_alone(text: str, kept: str) -> None:
    assert all(kept in outcome for outcome in outcomes("lexical", text))


@pytest.mark.parametrize(
    "text", ["He served three years.", "In the fifth year he died.", "Sixty ships sank."]
)
def test_lexical_numbers_keep_the_agreement(text: str) -> None:
    found = outcomes("lexical", text, seeds=40)
    numbers = {outcome for outcome in found if not re.search(r"months|month|trains", outcome)}
    assert numbers
    assert not any(re.search(r"\b(one|first)\b", outcome, re.IGNORECASE) for outcome in numbers)


def test_lexical_uses_no_word_twice_or_one_that_stands_there_already() -> None:
    assert not outcomes("lexical", "The horse and the ox ate, and a horse ran from the ox.")


def test_contrasts_are_pairs_of_different_words() -> None:
    table = read_rows("lexica/contrasts.tsv")
    assert len(table) > 500
    assert all(len(row) == 4 and row[2] != row[3] for row in table)
    assert len({row[:3] for row in table}) == len(table)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("The Duke of Zhou spoke.", r"The (King|Marquis|Earl|Viscount|Baron|Prince|Emperor) of Zhou spoke\."),
        ("Then the king laughed.", r"Then the (duke|marquis|earl|viscount|baron|prince) laughed\."),
        ("He met an earl.", r"He met (a (king|duke|marquis|viscount|baron|prince)|an emperor)\."),
        ("The queen died.", r"The (princess|duchess) died\."),
        ("His ministers agreed.", r"His (generals|governors|magistrates|commanders|prefects|.*s) agreed\."),
    ],
)
def test_title_gives_another_rank_of_the_same_gender(text: str, pattern: str) -> None:
    found = outcomes("title", text)
    assert found
    assert all(re.fullmatch(pattern, outcome) for outcome in found), found


@pytest.mark.parametrize(
    "text",
    [
        "Martin Luther King spoke.",
        "They counted the dead and held a general election.",
        "In general, he mastered the art.",
        "The feudal lords came.",
        "The Yellow Emperor asked.",
        "Antonio Guterres, the Secretary-General, spoke.",
        "He is a barefoot doctor.",
    ],
)
def test_title_leaves_what_is_no_title(text: str) -> None:
    assert not outcomes("title", text)


def test_title_of_two_words_goes_as_a_whole() -> None:
    found = outcomes("title", "Prime Minister Cameron resigned.", source_lang="de")
    assert found
    assert not any("Prime" in outcome for outcome in found)


def test_title_of_one_person_changes_throughout() -> None:
    found = outcomes("title", "The king came. Then the king spoke.")
    assert found
    for outcome in found:
        first, second = re.findall(r"the (\w+)", outcome, re.IGNORECASE)
        assert first == second != "king"


def test_titles_stand_once_in_a_group() -> None:
    for members in read_groups("lexica/titles.tsv").values():
        assert len(set(members)) == len(members)


@pytest.mark.parametrize("category", ["lexical", "title"])
def test_words_need_the_parse(category: str) -> None:
    example = Example(Translation("i", "s", "原", "The king came.", "lzh", "en", "d"))
    with pytest.raises(NotApplicableError, match="parsed"):
        make_pair(PERTURBATIONS[category](), example, 1)


def _classical(data: Path) -> Iterator[Example]:
    csv.field_size_limit(10**7)
    with (data / "classical_chinese" / "passages.csv").open(encoding="utf-8", newline="") as stream:
        found = [row for row in csv.DictReader(stream) if 20 < len(row["EnglishText"]) < 400][:80]
    for row, doc in zip(found, english.parse([row["EnglishText"] for row in found]), strict=True):
        yield Example(
            Translation(
                row["ChineseText"][:20], "s", row["ChineseText"], row["EnglishText"], "lzh", "en", "d"
            ),
            doc,
        )


@pytest.mark.data
def test_words_apply_to_classical_chinese(data: Path) -> None:
    made = {"lexical": 0, "title": 0}
    for example in _classical(data):
        for category in made:
            try:
                pair = make_pair(PERTURBATIONS[category](), example, 3)
            except NotApplicableError:
                continue
            made[category] += 1
            assert pair == make_pair(PERTURBATIONS[category](), example, 3)
            assert not re.search(r"\ba [aeio]\w|\ban [bcdfgjklmnpqrstvwxz]", pair.edits[0].perturbed.text)
    assert made["lexical"] > 40
    assert made["title"] > 15


def test_tables_skip_comments_and_part_columns_and_members() -> None:
    assert ("France", "French") in read_rows("lexica/demonyms.tsv")
    assert read_groups("phrases/units.en.txt")["meters"] == ("feet", "yards")
    assert not any(line.startswith("#") for line in read_lines("phrases/concepts.txt"))


def test_an_alternation_prefers_the_longest_and_takes_words_literally() -> None:
    pattern = re.compile(alternation(["a", "a.m.", "am"]))
    assert [found.group() for found in pattern.finditer("a.m. am axm.")] == ["a.m.", "am", "a"]
