"""A small multilingual lexicon: frequent nouns, to find a word and its translation without an alignment."""

from __future__ import annotations

import re
from functools import lru_cache

from perturb.rules.tables import read_lines


@lru_cache(maxsize=64)
def concepts(
    source: str, target: str
) -> tuple[tuple[re.Pattern[str], re.Pattern[str], tuple[str, ...]], ...]:
    """Concepts that both languages have: pattern of the source word, of the target word, quick target keys.

    Languages are base languages (``zh``); patterns match whole words where the language has spaces. The
    quick keys are lower-case substrings one of which is in a text that the target pattern matches. A concept
    of which the target language has a stem only is left out, so that an ending is never left behind.
    """
    rows = []
    for line in read_lines("phrases/concepts.txt"):
        entry = dict(part.split(":", 1) for part in re.split(r" (?=[a-z]{2,3}:)", line))
        if source in entry and target in entry and "*" not in entry[target]:
            forms = tuple(form.lower() for form in entry[target].split("|"))
            rows.append((_pattern(entry[source], source), _pattern(entry[target], target), forms))
    return tuple(rows)


def _pattern(forms: str, language: str) -> re.Pattern[str]:
    parts = [re.escape(form).replace(r"\*", r"\w*") for form in forms.split("|")]
    if language in ("ja", "zh"):
        # A single character is too often part of another word.
        parts = [part for part in parts if len(part) > 1] or ["(?!)"]
    parts.sort(key=len, reverse=True)
    body = "|".join(parts)
    if language == "ja":
        # Beside another character of its script it is part of a compound.
        return re.compile(f"(?<![一-龥ァ-ヺー・])(?:{body})(?![一-龥ァ-ヺー・])")
    if language == "zh":
        return re.compile(f"(?<![男女老小大总国])(?:{body})(?![们家部局署性化])")
    if language == "ko":
        return re.compile(f"(?<![가-힣])(?:{body})")
    if language == "lzh":
        # 公子, 王后 and 王莽 are neither dukes nor kings.
        return re.compile(f"(?:{body})(?![子孫后母主莽氏])")
    if language == "hi":
        # \w leaves out the vowel signs of Devanagari: a word ends at space or mark.
        return re.compile(rf"(?<!\S)(?:{body})(?=[\s,.।!?]|\Z)")
    return re.compile(rf"(?<![\w-])(?:{body})(?![\w-])", re.IGNORECASE)
