"""Romanised names: pinyin and characters that are read so, Korean by the Revised Romanisation."""

from __future__ import annotations

import re
from functools import lru_cache

from perturb.rules.tables import read_groups, word_tuple

_FINALS = {
    "": "a o e ai ei ao ou an en ang eng er",
    "b": "a o ai ei ao an en ang eng i ie iao ian in ing u",
    "p": "a o ai ei ao ou an en ang eng i ie iao ian in ing u",
    "m": "a o e ai ei ao ou an en ang eng i ie iao iu ian in ing u",
    "f": "a o ei ou an en ang eng u",
    "d": "a e ai ei ao ou an en ang eng ong i ie iao iu ian ing u uo ui uan un",
    "t": "a e ai ao ou an ang eng ong i ie iao ian ing u uo ui uan un",
    "n": "a e ai ei ao ou an en ang eng ong i ie iao iu ian in iang ing u uo uan ü üe",
    "l": "a e ai ei ao ou an ang eng ong i ia ie iao iu ian in iang ing u uo uan un ü üe",
    "g": "a e ai ei ao ou an en ang eng ong u ua uo uai ui uan un uang",
    "k": "a e ai ei ao ou an en ang eng ong u ua uo uai ui uan un uang",
    "h": "a e ai ei ao ou an en ang eng ong u ua uo uai ui uan un uang",
    "j": "i ia ie iao iu ian in iang ing iong u ue uan un",
    "q": "i ia ie iao iu ian in iang ing iong u ue uan un",
    "x": "i ia ie iao iu ian in iang ing iong u ue uan un",
    "zh": "a e ai ei ao ou an en ang eng ong i u ua uo uai ui uan un uang",
    "ch": "a e ai ao ou an en ang eng ong i u ua uo uai ui uan un uang",
    "sh": "a e ai ei ao ou an en ang eng i u ua uo uai ui uan un uang",
    "r": "e ao ou an en ang eng ong i u ua uo ui uan un",
    "z": "a e ai ei ao ou an en ang eng ong i u uo ui uan un",
    "c": "a e ai ao ou an en ang eng ong i u uo ui uan un",
    "s": "a e ai ao ou an en ang eng ong i u uo ui uan un",
    "y": "a o e ao ou an in ang ing ong i u ue uan un",
    "w": "a o ai ei an en ang eng u",
}
SYLLABLES = frozenset(initial + final for initial, finals in _FINALS.items() for final in finals.split())
"""Every syllable of pinyin, without tones."""

_STEMS = word_tuple("jia yi bing ding wu ji geng xin ren gui")
_BRANCHES = word_tuple("zi chou yin mao chen si wu wei shen you xu hai")
CYCLE = {
    _STEMS[n % 10] + _BRANCHES[n % 12]: (_STEMS[n % 10].capitalize(), _BRANCHES[n % 12].capitalize())
    for n in range(60)
}
"""The sixty days and years of the cycle, written as one word, with their stem and branch."""


@lru_cache(maxsize=4096)
def pinyin_splits(word: str) -> tuple[tuple[str, ...], ...]:
    """Every way to read a lower-case word as syllables of pinyin; an apostrophe is a boundary.

    >>> pinyin_splits("xian")
    (('xi', 'an'), ('xian',))
    """
    if not word:
        return ((),)
    found: list[tuple[str, ...]] = []
    for end in range(1, min(len(word), 6) + 1):
        if word[:end] in SYLLABLES:
            rest = word[end:].removeprefix("'").removeprefix("’")
            found += [(word[:end], *tail) for tail in pinyin_splits(rest)]
    return tuple(found)


@lru_cache(maxsize=1)
def _readings() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for syllable, characters in read_groups("lexica/readings.tsv").items():
        for character in characters:
            table.setdefault(character, set()).add(syllable)
    return {character: frozenset(syllables) for character, syllables in table.items()}


def characters(syllables: tuple[str, ...], source: str) -> str | None:
    """The adjacent characters of ``source`` that are read so; ``None`` unless exactly one spelling fits."""
    table, size = _readings(), len(syllables)
    found = {
        source[start : start + size]
        for start in range(len(source) - size + 1)
        if all(syllables[i] in table.get(source[start + i], ()) for i in range(size))
    }
    return found.pop() if len(found) == 1 else None


# Two spaces part nothing: the silent initial, and (at the start) the open syllable.
_INITIALS = re.split(" ", "g kk n d tt r m b pp s ss  j jj ch k t p h")
_VOWELS = word_tuple("a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i")
_CODAS = re.split(" ", " k k k n n n t l k m l l l p l m p p t t ng t t k t p t")


def romanise(hangul: str) -> str:
    """Revised Romanisation of Korean syllables, read one by one (assimilation between them is not written).

    >>> romanise("강남")
    'gangnam'
    """
    latin = []
    for character in hangul:
        index = ord(character) - 0xAC00
        if not 0 <= index < 11172:
            raise ValueError(f"{character!r} is no Korean syllable")
        initial, rest = divmod(index, 588)
        latin.append(_INITIALS[initial] + _VOWELS[rest // 28] + _CODAS[rest % 28])
    return "".join(latin)


def korean(name: str, source: str) -> str | None:
    """The Hangul of ``source`` that is romanised as ``name``; ``None`` unless exactly one word begins so."""
    wanted = name.lower().replace("-", "").replace(" ", "")
    found = set()
    for word in re.findall(r"[가-힣]+", source):
        found |= {
            word[:size] for size in range(2, 5) if len(word) >= size and romanise(word[:size]) == wanted
        }
    return found.pop() if len(found) == 1 else None
