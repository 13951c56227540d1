"""Numbers, units and dates: what is a number, what it may turn into, and what is left alone."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from challenge_sets import Translation
from challenge_sets.files import read_jsonl
from challenge_sets.report import DataReport
from perturb.base import Example, NotApplicableError, make_pair
from perturb.rules.numbers import Number, UnitDate
from perturb.rules.phrases.digits import digit_slips
from perturb.rules.phrases.number_words import number_word_slips
from perturb.rules.phrases.units import unit_slips

SEEDS = range(25)
LONG_MONTHS = ["January", "March", "May", "July", "August", "December"]


def example(text: str, target: str = "en") -> Example:
    return Example(Translation("i", "s", "source", text, "fr", target, "d"))


def outcomes(rule: Number | UnitDate, text: str, target: str = "en") -> set[str]:
    """Everything that the rule makes of a text over some seeds; empty where it makes nothing."""
    made = set()
    for seed in SEEDS:
        try:
            made.add(make_pair(rule, example(text, target), seed).perturbed)
        except NotApplicableError:
            continue
    return made


@pytest.mark.parametrize(
    ("text", "target", "pattern"),
    [
        ("There were 27 people.", "en", r"There were [2-9]\d people\."),
        ("It cost 1,500 yen.", "en", r"It cost (15,000|5,100|2,500|1,050) yen\."),
        ("Es kostet 1.500 Euro.", "de", r"Es kostet (15\.000|2\.500|1\.050) Euro\."),
        ("Sie ist 3,5 Meter lang.", "de", r"Sie ist (5,3|3,[2-9]) Meter lang\."),
        ("She has three sons.", "en", r"She has (two|four|five|six) sons\."),
        ("In the third year he left.", "en", r"In the (second|fourth|fifth|sixth) year he left\."),
        ("The meeting is at 10:35.", "en", r"The meeting is at (10:53|1[12]:35)\."),
        ("He was born on May 12.", "en", r"He was born on May (\d|1\d)\."),
        ("Am 27. Januar kam sie.", "de", r"Am 2[3-8]\. Januar kam sie\."),
        ("Er hat drei Kinder.", "de", r"Er hat (zwei|vier|fünf|sechs) Kinder\."),
        ("他有三个孩子。", "zh-Hans", r"他有[四五六七八九]个孩子。"),
        ("会议在8月举行。", "zh-Hans", r"会议在([4-79]|1[0-2])月举行。"),
        ("子どもが三人いる。", "ja", r"子どもが[四五六七八九]人いる。"),
        ("그는 27살이다.", "ko", r"그는 (72|[13-5]7)살이다\."),
        ("This is the 21st issue.", "en", r"This is the 31st issue\."),
    ],
)
def test_a_number_becomes_another_of_the_same_form(text: str, target: str, pattern: str) -> None:
    made = outcomes(Number(), text, target)
    assert made
    assert not [new for new in made if not re.fullmatch(pattern, new)]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("One of them left.", "en"),
        ("The ratio is 3: 2 here.", "en"),
        ("It has 3) a radio.", "en"),
        ("我们玩3天2晚。", "zh-Hans"),
        ("2泊3日で行く。", "ja"),
        ("이틀 2박 3일이다.", "ko"),
        ("COVID-19 and the F-16 are known.", "en"),
        ("They are open 24/7.", "en"),
        ("The iPhone 15 is out.", "en"),
        ("See https://example.com/27 or a27@b.org.", "en"),
        ("1. First we eat.", "en"),
        ("They won 3-2 at home.", "en"),
        ("Call 555-0199 now.", "en"),
        ("Two-thirds of them left.", "en"),
        ("It takes one or two of us.", "en"),
        ("The second half was dull.", "en"),
        ("Ein Mann und eine Frau kamen.", "de"),
        ("Der Zweite Weltkrieg begann.", "de"),
        ("我十分喜欢三明治，一些人也一样。", "zh-Hans"),
        ("我们一起去，两口子都去。", "zh-Hans"),
        ("二度と行かない。十分だ。", "ja"),
        ("もう一度、一人で行く。", "ja"),
    ],
)
def test_what_only_looks_like_a_number_is_left_alone(text: str, target: str) -> None:
    assert outcomes(Number(), text, target) == set()


@pytest.mark.parametrize(
    ("text", "target", "made"),
    [
        ("They walked ten miles.", "en", {"They walked ten kilometers."}),
        ("It weighs 3 kg.", "en", {"It weighs 3 lb."}),
        ("They paid 5 million.", "en", {"They paid 5 billion."}),
        ("He paid £20.", "en", {"He paid $20.", "He paid €20."}),
        ("At 6 p.m. we leave.", "en", {"At 6 a.m. we leave."}),
        ("He died in 221 BC.", "en", {"He died in 221 AD."}),
        ("It was 25°C.", "en", {"It was 25°F."}),
        ("Er zahlte 5 Millionen.", "de", {"Er zahlte 5 Milliarden."}),
        ("It may march on, as April said.", "en", set()),
        ("On Good Friday, Miles won.", "en", set()),
        ("She is five years old.", "en", set()),
        ("One mile is enough for him to run.", "en", {"One kilometer is enough for him to run."}),
    ],
)
def test_units_and_dates(text: str, target: str, made: set[str]) -> None:
    assert outcomes(UnitDate(), text, target) == made


def test_a_date_goes_on_existing() -> None:
    made = outcomes(UnitDate(), "It began on 31 October.")
    assert made <= {f"It began on 31 {month}." for month in LONG_MONTHS}
    assert len(made) > 2


@given(st.text(alphabet="0123456789.,:-/ aA%年月日$", max_size=30), st.integers(0, 99))
def test_digit_slips_keep_the_place_and_change_the_number(text: str, seed: int) -> None:
    for language in ("en", "de", "ja"):
        for start, end, new in digit_slips(text, language, random.Random(seed)):
            assert text[start:end] != new
            assert text[start].isdigit() and text[end - 1].isdigit()
            assert new not in ("0", "1")


@pytest.mark.data
def test_every_slip_of_real_translations_is_a_change_inside_the_text(data: Path) -> None:
    path = data / "korean_context" / "ablation" / "translations.jsonl"
    seen = 0
    for _, row in read_jsonl(path, DataReport()):
        language = str(row["target_language"])
        text, rng = str(row["translation"]), random.Random(7)
        slips = [*digit_slips(text, language[:2], rng), *number_word_slips(text, language[:2], rng)]
        slips += unit_slips(text, "en", rng) if language == "en" else []
        for start, end, new in slips:
            assert 0 <= start < end <= len(text)
            assert text[start:end] != new
            seen += 1
    assert seen > 200
