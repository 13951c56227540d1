"""Punctuation, casing and typing errors."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from challenge_sets import Translation
from perturb.base import Example, NotApplicableError, Perturbation, make_pair
from perturb.rules.phrases.marks import punctuation_slips
from perturb.rules.phrases.plain import sentences
from perturb.rules.phrases.typos import REAL_WORDS, latin_slips
from perturb.rules.surface import Casing, Punctuation, Typo
from perturb.rules.tables import read_rows


def outcomes(rule: Perturbation, text: str, target: str = "en", seeds: int = 25) -> set[str]:
    made = set()
    for seed in range(seeds):
        try:
            example = Example(Translation("i", "s", "source", text, "fr", target, "d"))
            made.add(make_pair(rule, example, seed).perturbed)
        except NotApplicableError:
            continue
    return made


@pytest.mark.parametrize(
    ("text", "target", "made"),
    [
        (
            "However, he left early that day.",
            "en",
            {"However he left early that day."},
        ),
        ("Why did he leave so early?", "en", {"Why did he leave so early."}),
        (
            "Er sagte gestern, dass es regnet.",
            "de",
            {"Er sagte gestern dass es regnet."},
        ),
        (
            "Im Jahr davor wurde er krank.",
            "de",
            {"Im Jahr davor, wurde er krank."},
        ),
        ("你为什么不去？", "zh-Hans", {"你为什么不去。"}),
        ("昨日は何を食べたかった？", "ja", {"昨日は何を食べたかった。"}),
        ("왜 그렇게 일찍 떠났나요?", "ko", {"왜 그렇게 일찍 떠났나요."}),
        (
            "我昨天买了一本书，今天读完了。",
            "zh-Hans",
            {"我昨天买了一本书,今天读完了。", "我昨天买了一本书，今天读完了."},
        ),
        ("OK.", "en", set()),
        ("See https://a.com/x?y", "en", set()),
    ],
)
def test_punctuation(text: str, target: str, made: set[str]) -> None:
    assert outcomes(Punctuation(), text, target) == made


def test_sentences_run_together_rather_than_losing_the_last_mark() -> None:
    text = "The king went home at once. The minister stayed in the city."
    assert outcomes(Punctuation(), text) == {"The king went home at once The minister stayed in the city."}


@pytest.mark.parametrize(
    ("text", "target", "made"),
    [
        ("we saw Yangzhou, and i left", "en", set()),
        (
            "He lives in Vladivostok now.",
            "en",
            {"he lives in Vladivostok now.", "He lives in vladivostok now."},
        ),
        ("the Duke of Qi left", "en", set()),
        ("Yesterday I saw it.", "en", {"yesterday I saw it.", "Yesterday i saw it."}),
        ("ER KAM", "de", set()),
        ("und dann kam der Hund, und bellte.", "de", {"und dann kam der hund, und bellte."}),
    ],
)
def test_casing(text: str, target: str, made: set[str]) -> None:
    assert outcomes(Casing(), text, target) == made


@pytest.mark.parametrize("text", ["Name it Xiongnu.", "form trail", "see @someone_here #hashtag", "it is so"])
def test_names_confusable_and_short_words_are_not_misspelt(text: str) -> None:
    assert outcomes(Typo(), text) == set()


@pytest.mark.parametrize(
    ("text", "target", "made"),
    [
        ("我已经说了。", "zh-Hans", {"我己经说了。"}),
        ("他跑得很快。", "zh-Hans", {"他跑的很快。"}),
        ("ここにない。", "ja", set()),
        ("新聞を毎朝読む。", "ja", {"新聞お毎朝読む。"}),
        ("問題はない。", "ja", {"間題はない。"}),
    ],
)
def test_slips_of_the_input_method(text: str, target: str, made: set[str]) -> None:
    assert outcomes(Typo(), text, target) == made


@given(
    st.lists(st.sampled_from(["capital", "wonderful", "minister", "ancient", "heavily"]), max_size=5),
    st.integers(),
)
def test_a_slip_changes_one_or_two_letters_and_never_the_first_or_the_ending(
    words: list[str], seed: int
) -> None:
    text = " ".join(words)
    for start, end, new in latin_slips(text, "en", random.Random(seed)):
        made = text[:start] + new + text[end:]
        changed = [pair for pair in zip(text.split(), made.split(), strict=True) if pair[0] != pair[1]]
        assert len(changed) == 1
        old, other = changed[0]
        assert other[0] == old[0] and other[-2:] == old[-2:]
        assert abs(len(old) - len(other)) <= 1 and other not in REAL_WORDS["en"]
        assert (Counter(old) - Counter(other)).total() <= 1


@pytest.mark.parametrize("name", ["phrases/slips.zh.txt", "phrases/slips.ja.txt"])
def test_tables_of_slips_change_something_once(name: str) -> None:
    rows = read_rows(name)
    assert all(right != wrong for right, wrong in rows)
    assert len({right for right, _ in rows}) == len(rows)


@pytest.mark.parametrize(
    ("text", "language", "parts"),
    [
        ("Mr. Li came. He left.", "en", ["Mr. Li came.", "He left."]),
        ("Am 3. Mai kam er. Dann ging er.", "de", ["Am 3. Mai kam er.", "Dann ging er."]),
        ("He said, 'Go!' They went.", "en", ["He said, 'Go!'", "They went."]),
        ("他来了。「走吧！」她说。", "zh", ["他来了。", "「走吧！」", "她说。"]),
        ("one\ntwo", "en", ["one", "two"]),
        ("It cost 3.5 dollars. Fine.", "en", ["It cost 3.5 dollars.", "Fine."]),
    ],
)
def test_sentences(text: str, language: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text, language)] == parts


@given(st.text(alphabet='ab AB.,?!"“”()。、，「」\n', max_size=40), st.integers(0, 9))
def test_punctuation_slips_change_one_mark(text: str, seed: int) -> None:
    for language in ("en", "de", "ja", "zh", "ko"):
        for start, end, new in punctuation_slips(text, language, random.Random(seed)):
            assert text[start:end] != new and end - start <= 1 and len(new) <= 2
            assert not any(sign.isalnum() for sign in text[start:end] + new)
