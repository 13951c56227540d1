"""Untranslated, repeated and added material."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from challenge_sets import Translation
from perturb.base import Example, NotApplicableError, Perturbation, make_pair
from perturb.rules.insertions import Addition, Repetition, Untranslated
from perturb.rules.phrases.additions import DE_SENTENCES, DE_TAILS, EN_SENTENCES, EN_TAILS
from perturb.rules.phrases.concepts import concepts
from perturb.rules.phrases.repeats import repeated_spans


def translation(source: str, text: str, pair: str, domain: str | None = None) -> Translation:
    source_lang, target_lang = pair.split(">")
    return Translation("i", "s", source, text, source_lang, target_lang, "d", domain=domain)


def outcomes(rule: Perturbation, made_from: Translation, seeds: int = 30) -> set[str]:
    made = set()
    for seed in range(seeds):
        try:
            made.add(make_pair(rule, Example(made_from), seed).perturbed)
        except NotApplicableError:
            continue
    return made


@pytest.mark.parametrize(
    ("source", "text", "pair", "made"),
    [
        ("王怒，乃去其國。", "The king was angry and left.", "lzh>en", {"The 王 was angry and left."}),
        ("王怒。", "King Wu was angry.", "lzh>en", {"王怒。"}),
        ("내일 병원에 가야 해.", "I have to go to the hospital.", "ko>en", {"I have to go to the 병원."}),
        ("My dog sleeps.", "Mein Hund schläft.", "en>de", {"Mein dog schläft."}),
        ("주말에 봐.", "周末见。", "ko>zh-Hans", {"주말见。"}),
        (
            "Er ging nach Hause. Sie blieb noch da.",
            "He went back home. She stayed there.",
            "de>en",
            {"Er ging nach Hause. She stayed there.", "He went back home. Sie blieb noch da."},
        ),
        (
            "In 1999, he moved to Rome, which was a long way off for him and his family.",
            "Im Jahr 1999 zog er nach Rom, was für ihn und seine Familie sehr weit weg war.",
            "en>de",
            set(),
        ),
        (
            "Oui. Non. Un autre.",
            "One long sentence only, of many words and no more than that.",
            "fr>en",
            set(),
        ),
    ],
)
def test_untranslated(source: str, text: str, pair: str, made: set[str]) -> None:
    assert outcomes(Untranslated(), translation(source, text, pair)) == made


@pytest.mark.parametrize(
    ("source", "pair", "reason"),
    [("a dog", "en>en", "same language"), ("  ", "de>en", "source is empty")],
)
def test_untranslated_says_why_not(source: str, pair: str, reason: str) -> None:
    with pytest.raises(NotApplicableError, match=reason):
        make_pair(Untranslated(), Example(translation(source, "A dog barks.", pair)), 1)


def test_lexicon_reads_whole_words_and_no_part_of_a_compound() -> None:
    german = next(there for here, there, _ in concepts("en", "de") if here.fullmatch("government"))
    assert german.search("die Regierung sagt") and not german.search("der Regierungschef sagt")
    korean = next(here for here, _, keys in concepts("ko", "en") if "friend" in keys)
    assert korean.search("내 친구가") and not korean.search("여자친구가")
    japanese = next(there for _, there, keys in concepts("en", "ja") if "政府" in keys)
    assert japanese.search("この政府は") and not japanese.search("日本政府は")


@pytest.mark.parametrize(
    ("text", "target", "made"),
    [
        ("The king was angry.", "en", {"The king the king was angry."}),
        ("He went to the old market.", "en", {"He went to the old market to the old market."}),
        ("He did not say much.", "en", set()),
        ("He did not say very much.", "en", {"He did not say very much. He did not say very much."}),
        ("He left.", "en", set()),
        ("Er kam mit dem Hund.", "de", {"Er kam mit dem Hund mit dem Hund."}),
        ("新聞を毎朝読む。", "ja", {"新聞を新聞を毎朝読む。"}),
        ("我昨天去了商店，买了书。", "zh-Hans", {"我昨天去了商店我昨天去了商店，买了书。"}),
        ("快走吧，快走吧！", "zh-Hans", set()),
        ("친구를 오래 기다렸다.", "ko", {"친구를 친구를 오래 기다렸다."}),
    ],
)
def test_repetition(text: str, target: str, made: set[str]) -> None:
    assert outcomes(Repetition(), translation("x", text, f"fr>{target}")) == made


@given(
    st.lists(st.sampled_from(["the king", "was", "in the city", "and", "left", "his son", ","]), max_size=8)
)
def test_what_is_repeated_stands_right_before(words: list[str]) -> None:
    text = " ".join(words).replace(" ,", ",") + "."
    for at, again in repeated_spans(text, "en", random.Random(3)):
        assert text[:at].lower().endswith(again.strip().lower())


@pytest.mark.parametrize(
    ("source", "text", "pair", "domain", "register"),
    [
        ("二年，王入于周。", "In the second year he entered Zhou.", "lzh>en", None, "classical:event"),
        ("亭，民所安也。", "A pavilion is where the people find peace.", "lzh>en", None, "gloss"),
        (
            "그는 학교에 간다.",
            "He is going to school today.",
            "ko>en",
            "conversation",
            "conversation:statement",
        ),
        ("난 집에 갈래.", "I am going home right now.", "ko>en", "conversation", "conversation:first"),
        ("x", "The area is home to many birds.", "fr>en", None, "any"),
    ],
)
def test_addition_fits_its_register(
    source: str, text: str, pair: str, domain: str | None, register: str
) -> None:
    tails = {text[:-1] + tail + "." for tail in EN_TAILS[register]}
    sentences = {f"{text} {sentence}" for sentence in EN_SENTENCES[register]}
    made = outcomes(Addition(), translation(source, text, pair, domain), seeds=60)
    assert made <= tails | sentences
    assert made & tails and made & sentences


@pytest.mark.parametrize(
    "text", ["Where did he go today?", 'He said, "I am going home."', "Go.", "List of all the kings."]
)
def test_addition_leaves_questions_quotations_and_headings_alone(text: str) -> None:
    assert outcomes(Addition(), translation("x", text, "fr>en")) == set()


def test_additions_are_whole() -> None:
    for bank in (EN_TAILS, DE_TAILS):
        assert all(tail.startswith(", ") and tail[-1].isalpha() for tails in bank.values() for tail in tails)
    for bank in (EN_SENTENCES, DE_SENTENCES):
        assert all(re.fullmatch(r"[A-Z].*\.", one) for many in bank.values() for one in many)


def test_german_addition_needs_a_verb() -> None:
    base = translation("x", "Die Regierung hat das Gesetz geändert.", "en>de", "news")
    assert len(outcomes(Addition(), base)) > 2
    assert outcomes(Addition(), replace(base, hypothesis="Fotos von meinem Besuch in Ghana.")) == set()
