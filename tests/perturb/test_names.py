"""Names: exchanged throughout, written in another way, glossed truly."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from challenge_sets import Translation
from challenge_sets.languages import english
from perturb import PERTURBATIONS, Example, NotApplicableError, apply_changes
from perturb.rules.lexica.romanisation import SYLLABLES, characters, korean, pinyin_splits, romanise
from perturb.rules.tables import read_rows


def outcomes(category: str, text: str, source: str = "原文", lang: str = "lzh", seeds: int = 8) -> set[str]:
    example = Example(Translation("i", "s", source, text, lang, "en", "d"), next(iter(english.parse([text]))))
    perturbation = PERTURBATIONS[category]()
    return {
        apply_changes(text, changes)[0]
        for seed in range(seeds)
        for changes in perturbation.candidates(example, random.Random(seed))
    }


@pytest.mark.parametrize(
    ("text", "lang", "pattern"),
    [
        ("The Duke of Qi attacked the state of Lu.", "lzh", r"The Duke of \w+ attacked the state of \w+\."),
        ("Confucius said: 'Good.'", "lzh", r"\w+zi said: 'Good\.'|Mencius said: 'Good\.'"),
        ("He lives in France.", "de", r"He lives in (?!France)\w+\."),
        ("She speaks Korean well.", "ko", r"She speaks (?!Korean)\w+ well\."),
        ("Let's meet in Gangnam.", "ko", r"Let's meet in (?!Gangnam)\w+\."),
    ],
)
def test_named_entity_takes_another_of_its_kind(text: str, lang: str, pattern: str) -> None:
    found = outcomes("named_entity", text, lang=lang)
    assert found
    assert all(re.fullmatch(pattern, outcome) for outcome in found), found


def test_named_entity_changes_every_mention_and_keeps_the_possessive() -> None:
    text = "Guan Zhong spoke. The king heard Guan Zhong's advice, and Zhong left."
    for outcome in outcomes("named_entity", text):
        assert "Guan Zhong" not in outcome
        family, given_name = outcome.split(" ")[:2]
        assert f"{family} {given_name}'s advice, and {given_name} left." in outcome


def test_named_entity_mends_the_article() -> None:
    found = outcomes("named_entity", "She is a Russian writer.", lang="de", seeds=60)
    assert any(re.search(r" an [AEIO]", outcome) for outcome in found)
    assert not any(re.search(r" a [AEIO]", outcome) for outcome in found)


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("The Bank of America closed.", "de"),
        ("New Mexico is dry.", "de"),
        ("Germany won; the German team cheered.", "de"),
        ("Prince Wei came.", "lzh"),
        ("On the day of Ren Shen it rained.", "lzh"),
        ("They met in Paris, Texas.", "de"),
    ],
)
def test_named_entity_leaves_parts_of_longer_names(text: str, lang: str) -> None:
    for outcome in outcomes("named_entity", text, lang=lang):
        for name in ("America", "Mexico", "Germany", "Prince Wei", "Ren Shen", "Paris"):
            assert (name in outcome) == (name in text)


@pytest.mark.parametrize(
    ("text", "source", "lang", "expected"),
    [
        ("On the day of Jichou he died.", "己丑卒", "lzh", "On the day of Ji Chou he died."),
        ("Zeng-zi asked.", "曾子問", "lzh", "Zengzi asked."),
        ("Ziwei left.", "子韋不從", "lzh", "Zi Wei left."),
        ("Liu Yunlong spoke.", "柳云龙", "zh-Hans", "Liu Yun-long spoke."),
        ("I met Min-ji today.", "오늘 민지를 만났어", "ko", "I met Minji today."),
    ],
)
def test_name_format(text: str, source: str, lang: str, expected: str) -> None:
    assert outcomes("name_format", text, source, lang) == {expected}


@pytest.mark.parametrize(
    ("text", "source", "lang"),
    [
        ("They went to Luoyang and to Chang'an.", "洛陽長安", "lzh"),
        ("Li Ke spoke.", "里克曰", "lzh"),
        ("Li Mu and Bai Qi came.", "李牧白起", "lzh"),
        ("Xian left.", "咸去", "lzh"),
        ("Beijing is large.", "北京很大", "zh-Hans"),
        ("I met Mary-ann.", "메리를 만났어", "ko"),
    ],
)
def test_name_format_leaves_what_is_not_certain(text: str, source: str, lang: str) -> None:
    assert not outcomes("name_format", text, source, lang)


def test_name_format_needs_a_chinese_or_korean_source() -> None:
    with pytest.raises(NotApplicableError, match="neither"):
        outcomes("name_format", "Liu Yunlong spoke.", "Liu sprach", "de")


@pytest.mark.parametrize(
    ("text", "source", "lang", "expected"),
    [
        ("The Duke of Wei left.", "衛侯去", "lzh", "The Duke of Wei (衛) left."),
        ("Zhang Tang agreed.", "張湯同時", "lzh", "Zhang Tang (張湯) agreed."),
        ("He went to Chang'an.", "至長安", "lzh", "He went to Chang'an (長安)."),
        ("Let's go to Namyangju now.", "남양주로 가자", "ko", "Let's go to Namyangju (남양주) now."),
        ("The EU agreed.", "Die EU stimmte zu", "de", "The EU (European Union) agreed."),
    ],
)
def test_name_annotation(text: str, source: str, lang: str, expected: str) -> None:
    assert outcomes("name_annotation", text, source, lang) == {expected}


@pytest.mark.parametrize(
    ("text", "source", "lang"),
    [
        ("The Duke of Wei left.", "衛侯去魏", "lzh"),
        ("Lu (魯) was small.", "魯小", "lzh"),
        ("Lu's duke left.", "魯公去", "lzh"),
        ("The European Union (EU) agreed.", "Die EU stimmte zu", "de"),
        ("They went home.", "집에 갔다", "ko"),
    ],
)
def test_name_annotation_is_silent_where_it_could_be_wrong(text: str, source: str, lang: str) -> None:
    assert not outcomes("name_annotation", text, source, lang)


@pytest.mark.parametrize(
    ("hangul", "latin"),
    [
        ("강남", "gangnam"),
        ("제주", "jeju"),
        ("이태원", "itaewon"),
        ("남양주", "namyangju"),
        ("부산", "busan"),
    ],
)
def test_revised_romanisation(hangul: str, latin: str) -> None:
    assert romanise(hangul) == latin
    assert korean(latin.title(), f"오늘 {hangul}에서") == hangul


def test_romanise_refuses_other_scripts() -> None:
    with pytest.raises(ValueError, match="no Korean syllable"):
        romanise("a")


@given(st.lists(st.sampled_from(sorted(SYLLABLES)), min_size=1, max_size=4))
def test_pinyin_splits_find_every_joined_name(syllables: list[str]) -> None:
    assert tuple(syllables) in pinyin_splits("".join(syllables))
    assert pinyin_splits("'".join(syllables))


def test_characters_need_one_spelling() -> None:
    assert characters(("zhang", "tang"), "與張湯同時") == "張湯"
    assert characters(("wei",), "衛魏") is None


def test_readings_are_syllables() -> None:
    assert all(syllable in SYLLABLES for syllable, _ in read_rows("lexica/readings.tsv"))


@pytest.mark.parametrize(
    "text",
    [
        "Ning Qi served the Duke of Qi, and Qi came.",
        "The days of Gui (癸) and Wei (未) passed.",
        "The lords built the Pan Gong.",
    ],
)
def test_named_entity_leaves_what_may_be_no_person_or_state(text: str) -> None:
    found = outcomes("named_entity", text)
    assert all(
        name in outcome for outcome in found for name in ("Ning Qi", "Wei (未)", "Pan Gong") if name in text
    )
