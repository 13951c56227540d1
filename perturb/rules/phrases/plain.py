"""Reading plain text without a parser: what must not be touched, sentences, quotes."""

from __future__ import annotations

import re

# Addresses, mentions, tags, markup and placeholders: a slip in one of them is another kind of error.
_PROTECTED = re.compile(
    r"""https?://\S+ | www\.\S+ | [\w.+-]+@[\w.-]+ | (?<!\w)[@#][\w.]+ | <[^<>]*> | &\#?\w+;
    | \b[\w-]+\.(?:com|org|net|edu|gov|de|jp|cn|kr|io|co|uk|eu|tv|info)\b(?:/\S*)? | [\w-]*_[\w-]*""",
    re.VERBOSE | re.ASCII,
)

_LATIN_END = re.compile(r"""(?:[.!?…]+)["”’'»«“)\]]*(?=\s+["“„‘'«»(\[¿¡]?[^\W_]|\s*\Z)""")
_CJK_END = re.compile(r"""(?:[。！？!?]+|…{2,})[」』”’）)"]*""")
_ABBREVIATION = re.compile(
    r"""(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|approx|Jr|Sr|Gen|Col|Sgt|Rev|Hon|Inc|Ltd|Co|Mt|Fig|Vol|pp|ca|
    bzw|usw|evtl|ggf|inkl|Nr|Str|Tel|vgl|Mio|Mrd|Abs|Art|Hr|Fr|geb|gest|engl|Jan|Feb|Mar|Apr|Jun|Jul|Aug|
    Sept?|Oct|Okt|Nov|Dec|Dez)|\b[^\W\d_])\.\Z""",
    re.VERBOSE,
)
_CLOSING = "\"”’'»«“)]」』）"
_PAIRED = {"“": "”", "(": ")", "（": "）", "「": "」", "『": "』", "[": "]", "《": "》", "„": "“"}


def base_language(tag: str) -> str:
    """The language of a tag without script and region: ``zh-Hans`` is ``zh``."""
    return tag.partition("-")[0]


def spaced(language: str) -> bool:
    """Whether the language puts spaces between words."""
    return language not in ("ja", "zh", "lzh")


def protected(text: str) -> list[tuple[int, int]]:
    """Spans of addresses, mentions, hashtags and markup, in order."""
    return [found.span() for found in _PROTECTED.finditer(text)]


def inside(start: int, end: int, spans: list[tuple[int, int]]) -> bool:
    """Whether ``[start, end)`` touches one of the spans."""
    return any(start < there and here < end for here, there in spans)


def sentences(text: str, language: str) -> list[tuple[int, int]]:
    """Sentence spans in order, each with its final mark and closing quotes, without the space around it.

    Abbreviations, initials and German ordinals (``3. Mai``) end no sentence; a line end ends one.
    """
    spans: list[tuple[int, int]] = []
    pattern = _LATIN_END if spaced(language) else _CJK_END
    here = 0
    for line in text.splitlines(keepends=True):
        start = here
        for found in pattern.finditer(line):
            end = here + found.end()
            if spaced(language) and end < here + len(line.rstrip()):
                if found.group() == "." and _ABBREVIATION.search(text, max(start, end - 8), end):
                    continue
                if language == "de" and found.group() == "." and text[end - 2].isdigit():
                    continue
                following = text[end:].lstrip()[:2].strip("\"“„‘'«»([¿¡")
                if following[:1].islower():
                    continue
            _append(spans, text, start, end)
            start = end
        _append(spans, text, start, here + len(line))
        here += len(line)
    return spans


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if stripped := piece.strip():
        start += len(piece) - len(piece.lstrip())
        spans.append((start, start + len(stripped)))


def opens_sentence(text: str, position: int) -> bool:
    """Whether nothing, a sentence's end, a colon or a line end stands before ``position`` and its quotes."""
    before = text[:position].rstrip(" \"'“‘(")
    return not before or before[-1] in ".!?:\n"


def final_mark(text: str, start: int, end: int) -> int:
    """Offset of the last mark of a sentence, before closing quotes and brackets; -1 where it has none."""
    at = end - 1
    while at > start and text[at] in _CLOSING:
        at -= 1
    return at if text[at] in ".!?。！？…" else -1


def balanced(piece: str) -> bool:
    """Whether quotes and brackets open and close within the piece; a straight quote counts in pairs."""
    if piece.count('"') % 2:
        return False
    for opening, closing in _PAIRED.items():
        if opening == "„" or (opening == "“" and "„" in piece):
            continue
        if piece.count(opening) != piece.count(closing):
            return False
    return piece.count("„") == 0 or piece.count("„") <= piece.count("“") + piece.count("”") + piece.count('"')
