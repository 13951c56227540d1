"""Where in the texts a quote stands, and where a quote ends."""

from __future__ import annotations

import unicodedata

import pytest

from challenge_sets import MarkedError
from metrics.judges.forms import Form, Judged
from metrics.judges.reading import read_answer

MQM = Form("mqm")


def errors_of(lines: str, hypothesis: str, source: str = "") -> tuple[MarkedError, ...]:
    judged = Judged(hypothesis, source)
    verdict = read_answer(f"Major:\n{lines}", MQM, judged)
    assert verdict.errors is not None, verdict.reason
    for error in verdict.errors:
        if error.span is not None:
            error.span.check(hypothesis)
        if error.source is not None:
            error.source.check(source)
    return verdict.errors


def places(lines: str, hypothesis: str, source: str = "") -> list[tuple[int, int] | None]:
    spans = [error.span for error in errors_of(lines, hypothesis, source)]
    return [None if span is None else (span.start, span.end) for span in spans]


def one(quote: str) -> str:
    return f'style/awkward - "{quote}"'


PLACED = {
    "exact": ("bank", "the bank", (4, 8)),
    "exact with a space at its end": ("the ", "on the bank", (3, 7)),
    "a space at the end that is not there": ("bank ", "the bank", (4, 8)),
    "a space in front that is not there": (" the", "the bank", (0, 3)),
    "another case": ("Bank", "the bank", (4, 8)),
    "the case as it is comes first": ("Bank", "the bank, the Bank", (14, 18)),
    "white space": ("the  bank", "on the\u00a0\n bank", (3, 13)),
    "straight quotes": ("it's", "so it’s", (3, 7)),
    "typographic quotes": ("it’s", "so it's", (3, 7)),
    "dashes": ("a - b", "x a – b", (2, 7)),
    "decomposed": (unicodedata.normalize("NFD", "café"), "le café", (3, 7)),
    "decomposed in the text": ("café", unicodedata.normalize("NFD", "le café!"), (3, 8)),
    "decomposed Hangul": (unicodedata.normalize("NFD", "요즘"), "그 요즘", (2, 4)),
    "Hangul decomposed in the text": ("요즘", unicodedata.normalize("NFD", "그 요즘."), (3, 8)),
    "decomposed Bengali": (unicodedata.normalize("NFD", "ভালো"), "খুব ভালো", (4, 8)),
    "Bengali decomposed in the text": ("ভালো", unicodedata.normalize("NFD", "খুব ভালো।"), (4, 9)),
    "decomposed Tamil": (unicodedata.normalize("NFD", "கொடு"), "அது கொடு", (4, 8)),
    "Tamil decomposed in the text": ("கொடு", unicodedata.normalize("NFD", "அது கொடு!"), (4, 9)),
    "Kannada of three parts": (unicodedata.normalize("NFD", "ಕೋ"), "ಅ ಕೋ", (2, 4)),
    "Kannada of three parts in the text": ("ಕೋ", unicodedata.normalize("NFD", "ಅ ಕೋ!"), (2, 6)),
    "Sinhala decomposed in the text": ("කෝ", unicodedata.normalize("NFD", "අ කෝ!"), (2, 6)),
    "full-width": ("ABC", "x ＡＢＣ", (2, 5)),
    "half-width kana": ("ガ", "x ｶﾞ", (2, 4)),
    "ligature": ("fish", "a ﬁsh", (2, 5)),
    "ellipsis": ("well...", "so well… then", (3, 8)),
    "sharp s": ("STRASSE", "die Straße", (4, 10)),
    "a soft hyphen in the text": ("bank", "the ba\u00adnk", (4, 9)),
    "astral": ("x", "😀 x", (2, 3)),
    "nowhere": ("shore", "the bank", None),
    "blank": ("  ", "the  bank", None),
    "regex characters": ("(a.b)*", "x (a.b)*", (2, 8)),
}


@pytest.mark.parametrize(("quote", "hypothesis", "place"), PLACED.values(), ids=PLACED.keys())
def test_places(quote: str, hypothesis: str, place: tuple[int, int] | None) -> None:
    assert places(one(quote), hypothesis) == [place]
    (error,) = errors_of(one(quote), hypothesis)
    assert error.quote == quote


def test_equal_quotes_take_one_place_after_the_other() -> None:
    lines = "\n".join([one("the")] * 4)
    assert places(lines, "the cat, the dog, the hen") == [(0, 3), (9, 12), (18, 21), (0, 3)]
    assert places("\n".join([one("The")] * 3), "the cat, the dog") == [(0, 3), (9, 12), (0, 3)]


def test_an_omission_may_quote_the_source() -> None:
    (error,) = errors_of('accuracy/omission - "still"', "He sat there.", "Er saß still da.")
    assert error.span is None
    assert error.source is not None
    assert (error.source.start, error.source.end) == (7, 12)
    (error,) = errors_of('accuracy/omission - "sat"', "He sat there.", "sat")
    assert error.span is not None
    assert error.source is None
    # Only an omission is looked for in the source.
    (error,) = errors_of('accuracy/mistranslation - "still"', "He sat there.", "Er saß still da.")
    assert (error.span, error.source, error.quote) == (None, None, "still")


ENDS = {
    "a quote inside": ('"he said "hi" to me"', 'And he said "hi" to me.', 'he said "hi" to me'),
    "a quote inside, typographic in the text": (
        '"he said "hi" to me"',
        "And he said “hi” to me.",
        'he said "hi" to me',
    ),
    "a quote at the start": ('""Hi" he said"', '"Hi" he said', '"Hi" he said'),
    "a quote at the end": ('"he said "hi""', 'he said "hi"', 'he said "hi"'),
    "an explanation": ('"bank" (not "shore")', "the bank", "bank"),
    "an explanation with a dash": ('"bank" - should be "shore".', "the bank", "bank"),
    "an explanation, nothing found": ('"Bänke" (not "shore")', "the bank", "Bänke"),
    "an arrow": ('"bank" → "shore"', "the bank", "bank"),
    "several": ('"bank", "the"', "the bank", "bank"),
    "several, the quote holds a comma": ('"the", "bank"', 'x "the", "bank" y', 'the", "bank'),
    "German quotes inside": ("„er sagte „ja“ dazu“", "nichts", "er sagte „ja“ dazu"),
    "corner brackets inside": ("「彼は「はい」と言った」", "無", "彼は「はい」と言った"),
    "an apostrophe": ("'it's so'", "nothing", "it's so"),
    "an apostrophe at the end of a word": ("'the dogs' bowl'", "the dogs' bowl", "the dogs' bowl"),
    "inches": ('"a 5" screen"', 'on a 5" screen', 'a 5" screen'),
    "a dash inside": ('"a - "b" - c"', 'a - "b" - c', 'a - "b" - c'),
    "a colon inside": ('"Minor: "x""', 'Minor: "x"', 'Minor: "x"'),
}


@pytest.mark.parametrize(("quoted", "hypothesis", "quote"), ENDS.values(), ids=ENDS.keys())
def test_where_a_quote_ends(quoted: str, hypothesis: str, quote: str) -> None:
    (error,) = errors_of(f"style/awkward - {quoted}", hypothesis)
    assert error.quote == quote


def test_a_quote_of_several_lines_of_the_translation() -> None:
    hypothesis = "First line\nsecond line\nMinor:\nthird"
    for ends in ("\n", "\r\n"):
        answer = 'Major:\nother - "line\nsecond line\nMinor:\nth"\nMinor:\nno-error'.replace("\n", ends)
        verdict = read_answer(answer, MQM, Judged(hypothesis))
        assert verdict.errors is not None, verdict.reason
        (error,) = verdict.errors
        assert error.quote == "line\nsecond line\nMinor:\nth"
        assert error.span is not None
        assert (error.span.start, error.span.end) == (6, 32)
