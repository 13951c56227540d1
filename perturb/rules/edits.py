"""Edits that leave clean text behind: spaces, commas, capitals and a/an are mended with the change itself."""

from __future__ import annotations

import re

from perturb.base import Change

_OPENING = "\"'“‘«‹„([{「『*_—–-"
_TERMINAL = ".!?…。！？"
_CLOSING = ",.;:!?…)]}”’»"
# Written with a vowel but spoken with a consonant, and the other way round.
_CONSONANT_SOUND = re.compile(r"(?:uni(?!n|m)|us[aeiu]|eu|one\b|once\b|u[kt][ie]|ubiq)", re.IGNORECASE)
_VOWEL_SOUND = re.compile(r"(?:[aeiou]|hour|hono|heir|honest|8|1[18]\b)", re.IGNORECASE)


def begins_sentence(text: str, position: int) -> bool:
    """Whether a capital is due at ``position``: nothing, an end or an opening quote before.

    A quote after a colon or a comma opens a sentence too; an abbreviation's full stop cannot be told
    from a sentence's, so that the caller should also look at the capital that stands there.
    """
    before = text[:position].rstrip(" \t\u00a0")
    bare = before.rstrip(_OPENING + " ")
    if not bare or bare[-1] in _TERMINAL or bare[-1] in "\n\r\u2028\u2029":
        return True
    if bare[-1] in "”’\"'»)]":
        inner = bare.rstrip("”’\"'»)]")
        return bool(inner) and inner[-1] in _TERMINAL
    # An opening quote touches the word behind it; a closing one is followed by a space.
    return len(before) == position and before != bare and before[-1] in "\"'“‘«„「『"


def delete(text: str, start: int, end: int) -> Change:
    """Remove ``text[start:end]`` and mend what it leaves.

    A doubled space goes; a comma that would stand at the start of a sentence, beside another comma or before
    closing punctuation goes; and where the removed words began a sentence with a capital, the next word
    takes the capital over. Returns one change, which may be wider than the span.
    """
    capital = text[start : start + 1].isupper() and begins_sentence(text, start)
    at_start = capital or begins_sentence(text, start)
    while end < len(text) and (text[end] == " " or (at_start and text[end] in ",;")):
        end += 1
    if not at_start:
        left = text[:start].rstrip(" ")
        right = text[end : end + 1]
        if not right or right in _CLOSING or right in "\n\r":
            if left.endswith(",") and (not right or right in ",.;:!?…)"):
                left = left[:-1]
            start = len(left)
        elif start and text[end - 1] == " " and (text[start - 1].isalnum() or text[start - 1] in _CLOSING):
            # Nothing separated the span from what stood before it: the space behind it stays.
            end -= 1
    if not capital or end >= len(text):
        return Change(start, end, "")
    first = end
    while first < len(text) and text[first] in _OPENING:
        first += 1
    if first >= len(text) or not text[first].islower():
        return Change(start, end, "")
    return Change(start, first + 1, text[end:first] + text[first].upper())


def match_case(old: str, new: str, *, sentence_start: bool) -> str:
    """Write ``new`` in the casing of ``old``: all capitals, a capital, or none; ``I`` is always one.

    ``old`` "I" tells nothing of itself, so that ``sentence_start`` decides.
    """
    if new == "I" or new.startswith("I'"):
        return new
    if len(old) > 1 and old.isupper():
        return new.upper()
    is_i = old == "I" or old.startswith(("I'", "I’"))
    if (is_i and sentence_start) or (not is_i and old[:1].isupper()):
        return new[:1].upper() + new[1:]
    return new


def indefinite_article(word: str) -> str:
    """``a`` or ``an``, by how ``word`` is spoken (by spelling, with the usual exceptions)."""
    return "an" if _VOWEL_SOUND.match(word) and not _CONSONANT_SOUND.match(word) else "a"


def replace_word(text: str, start: int, end: int, new: str) -> Change:
    """Replace ``text[start:end]`` by ``new`` in the old casing, and mend an ``a``/``an`` right before it."""
    old = text[start:end]
    new = match_case(old, new, sentence_start=begins_sentence(text, start))
    article = re.search(r"\b(an?)( )$", text[:start], re.IGNORECASE)
    if article is None or not new:
        return Change(start, end, new)
    right = indefinite_article(new)
    if right == article[1].lower():
        return Change(start, end, new)
    if article[1][0] == "A":
        right = right.upper() if len(article[1]) > 1 and article[1].isupper() else right.capitalize()
    return Change(article.start(1), end, right + article[2] + new)
