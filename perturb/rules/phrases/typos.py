"""Typing errors: slips of the hand in alphabets, of the input method in Chinese and Japanese."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from perturb.rules.phrases.plain import inside, protected
from perturb.rules.phrases.slips import Slip
from perturb.rules.tables import read_rows, read_words

_ROWS = {
    "en": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "de": ("qwertzuiopü", "asdfghjklöä", "yxcvbnm"),
}
NEIGHBOURS = {
    language: {
        sign: "".join(row[place] for place in (at - 1, at + 1) if 0 <= place < len(row))
        for row in rows
        for at, sign in enumerate(row)
    }
    for language, rows in _ROWS.items()
}
"""Keys beside each other in a row, QWERTY and QWERTZ."""

REAL_WORDS = {language: read_words(f"phrases/real_words.{language}.txt") for language in ("en", "de")}
"""Words of five or more letters that lie one slip away from another word: never offered as a typing error."""

_EN_WORD = re.compile(r"(?<![\w'’.@#/-])[a-z]{5,}(?![\w'’@/-])")
_DE_WORD = re.compile(
    r"(?<![\w'’.@#/-])(?:[a-zäöüß]{6,}"
    r"|(?:(?<=der )|(?<=die )|(?<=das )|(?<=den )|(?<=dem )|(?<=eine )|(?<=ein )|(?<=einen )"
    r"|(?<=einem ))[A-ZÄÖÜ][a-zäöüß]{5,})(?![\w'’@/-])"
)

ZH_SLIPS = read_rows("phrases/slips.zh.txt")
"""Chinese words and their common or look-alike misspellings, homophones and shapes."""

JA_SLIPS = read_rows("phrases/slips.ja.txt")
"""Japanese words and a look-alike or kana slip that makes a non-word of them."""

_ZH_PATTERNS = (
    (
        re.compile(
            r"(?<=[说跑做吃睡写玩过长弄走听唱笑哭画疼痛累热冷辣贵忙])(得)(?=很|太|非常|这么|那么|真|特别|要命|要死|不行)"
        ),
        "的",
    ),
    (re.compile(r"(?<=慢慢|渐渐|悄悄|认真|努力|拼命|好好|舒服|安静|痛快|不停)(地)(?=[一-龥])"), "得"),
    (re.compile(r"(?<=我们|他们|你们|咱们|大家|自己)(的)(?=[一-龥]{2})"), "得"),
    (
        re.compile(
            r"(?<=[我你他她])(的)(?=(?:手机|朋友|妈妈|老师|名字|房间|电脑|工作|身体|脸|手|心|钱|包|车|家|意思|衣服))"
        ),
        "得",
    ),
)
# を is nothing but a particle; は behind に, で and と is one too where a comma or a noun follows.
_JA_PATTERNS = (
    (re.compile(r"(?<=[一-龥ァ-ヺー])(を)(?=[一-龥ァ-ヺ])"), "お"),
    (re.compile(r"(?<=[一-龥ァ-ヺー]で)(は)(?=、|な[くい])"), "わ"),
    (re.compile(r"(?<=[一-龥ァ-ヺー]に)(は)(?=、|[一-龥ァ-ヺ])"), "わ"),
)


def typing_slips(text: str, language: str, rng: random.Random) -> Iterator[Slip]:
    """Yield the typing errors that the language's script allows."""
    return (cjk_slips if language in ("ja", "zh") else latin_slips)(text, language, rng)


def latin_slips(text: str, language: str, rng: random.Random) -> Iterator[Slip]:
    """Yield one-letter slips in words of five or more letters (German six) that give no other word."""
    spans = protected(text)
    words = list((_DE_WORD if language == "de" else _EN_WORD).finditer(text))
    rng.shuffle(words)
    known = REAL_WORDS[language]
    here: set[str] | None = None
    for word in words:
        old = word.group()
        # A word on the list is one slip away from another; a quoted foreign word has no spelling to miss.
        if old.lower() in known or inside(word.start(), word.end(), spans) or _quoted(text, word):
            continue
        here = here or set(re.findall(r"\w+", text.lower()))
        for start, end, new in _letter_slips(old, language, rng):
            made = old[:start] + new + old[end:]
            if made.lower() not in known and made.lower() not in here and not _looks_inflected(old, made):
                yield word.start() + start, word.start() + end, new


def _quoted(text: str, word: re.Match[str]) -> bool:
    return text[word.start() - 1 : word.start()] in ("'", '"', "“", "‘", "*", "„") or text[
        word.end() : word.end() + 1
    ] in ("*", "’")


def _looks_inflected(old: str, made: str) -> bool:
    """Endings stay: a slip that only trades one ending for another is a grammar error."""
    return old[:-2] == made[:-2] or old[:-1] == made or old + "s" == made or made[-2:] != old[-2:]


def _letter_slips(old: str, language: str, rng: random.Random) -> Iterator[Slip]:
    # Not the first letter, and not the last two: there a slip is another ending or another word.
    places = list(range(1, len(old) - 2))
    rng.shuffle(places)
    kinds = ["swap", "swap", "double", "drop", "near"]
    rng.shuffle(kinds)
    for kind in dict.fromkeys(kinds):
        for at in places:
            sign, following = old[at], old[at + 1]
            if kind == "swap" and sign != following and at + 1 < len(old) - 1:
                yield at, at + 2, following + sign
            elif (
                kind == "double"
                and sign in "bcdfgklmnprt"
                and sign not in (following, old[at - 1])
                and len(old) > 5
            ):
                yield at, at + 1, sign * 2
            elif kind == "drop" and len(old) > 6 and sign not in (following, old[at - 1], "s", "e"):
                yield at, at + 1, ""
            elif kind == "near" and len(old) > 5 and NEIGHBOURS[language].get(sign) and sign != "s":
                yield at, at + 1, rng.choice(NEIGHBOURS[language][sign])


def cjk_slips(text: str, language: str, rng: random.Random) -> Iterator[Slip]:
    """Yield slips of one character (Japanese kana: of one or two) from the tables, in random order."""
    table, patterns = (JA_SLIPS, _JA_PATTERNS) if language == "ja" else (ZH_SLIPS, _ZH_PATTERNS)
    words = [(at, at + len(right), wrong) for right, wrong in table if (at := text.find(right)) >= 0]
    particles = [
        (match.start(1), match.end(1), new) for pattern, new in patterns for match in pattern.finditer(text)
    ]
    rng.shuffle(words)
    rng.shuffle(particles)
    # Nearly every text has a particle to miswrite; words first keep the slips from being all alike.
    for start, end, new in words + particles:
        old = text[start:end]
        # Only the character that differs is replaced.
        lead = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
        tail = 0
        while tail < min(len(old), len(new)) - lead and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        yield start + lead, end - tail, new[lead : len(new) - tail]
