"""Slips in numbers written with digits: which digits are a count or a date, and what they turn into."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from perturb.rules.phrases.numerals import DE_BEFORE, EN_BEFORE, MONTHS
from perturb.rules.phrases.plain import inside, protected, sentences, spaced
from perturb.rules.phrases.slips import Slip
from perturb.rules.tables import word_set

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_MARKS = (("en", ","), ("de", r"\."))
_GROUPED = {language: re.compile(rf"\d{{1,3}}(?:{mark}\d{{3}})+\Z") for language, mark in _MARKS}
_DECIMAL = {"en": re.compile(r"\d{1,3}\.\d{1,2}\Z"), "de": re.compile(r"\d{1,3},\d{1,2}\Z")}
_TIME = re.compile(r"\d{1,2}:[0-5]\d\Z")
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.(?:\d{4})?\Z")
_WORD_BEFORE = re.compile(r"([^\W\d_]+)\.?['’]?[ \u00a0]?[$€£¥]?\Z")
# Latin letters or katakana right before a number make a name of it: ボーイング787.
_NAME_BEFORE = re.compile(r"(?:[A-Za-z][ .]?|[ァ-ヺー・])\Z")
# What may be written onto a number without a space and leaves it a count.
_SUFFIX = re.compile(
    r"(?:km|m|cm|mm|kg|g|mg|l|ml|ha|GB|MB|TB|am|pm|AM|PM|h|s|p|er|bn|ft|lbs?|mph|Uhr|years?)\b|°", re.ASCII
)
_HYPHENATED = re.compile(
    r"-(?:years?|days?|months?|weeks?|hours?|minutes?|mile|foot|inch|page|point|member|jährig|köpfig"
    r"|tägig|stündig"
    r"|Jährig|Minuten|Stunden|Tage|Jahre|Prozent|Euro|Dollar|Meter|Kilo)"
)
_LINKED = re.compile(r"\s*(?:-|–|—|~|〜|～|to|and|bis|und|or|oder|through|から|到|至|부터|에서)\s*[$€£]?\Z")
_LINK_NEXT = re.compile(
    r"\s*(?:%|°C?|km|year|년|年|月|日|Uhr)?\s*(?:-|–|—|~|〜|～|to|and|bis|und|or|oder|から|到|至|부터|에서)\s*[$€£]?\d"
)
_CENTURY = re.compile(r"(?:st|nd|rd|th)?[ .-]{0,2}(?:century|centuries|Jahrhundert|世紀|世纪|세기)")
_FULL_WIDTH = {ord("0") + digit: ord("０") + digit for digit in range(10)}
# Behind these words a number names one of many and counts nothing.
_NUMBERED = word_set("version type channel route highway windows android no nr article")
_YEARS = (1000, 2099)
_LAST_SAFE_YEAR = 2024


def digit_slips(text: str, language: str, rng: random.Random) -> Iterator[Slip]:
    """Yield ``(start, end, replacement)`` for numbers in random order, the format of the number kept.

    Numbers in addresses, names of products, list markers, ranges, scores, fractions and telephone numbers
    are left alone, and so are 0 and 1, with which a noun would have to agree.
    """
    found = [match for match in _NUMBER.finditer(text) if match.group() not in ("0", "1")]
    if not found:
        return
    tokens = {match.group() for match in found}
    spans = protected(text)
    starts = {start for start, _ in sentences(text, language)}
    rng.shuffle(found)
    # A number that the text repeats is better left alone: the slip would contradict its own text.
    found.sort(key=lambda match: text.count(match.group()) > 1)
    for match in found:
        start, end = match.span()
        if inside(start, end, spans) or not _is_count(text, start, end, language, starts):
            continue
        options = [new for new in _slips(text, match, language, rng) if new not in tokens]
        if options and not match.group().isascii():
            options[0] = options[0].translate(_FULL_WIDTH)
        if options:
            yield start, end, options[0]


def _is_count(text: str, start: int, end: int, language: str, starts: set[int]) -> bool:
    before, after = text[max(0, start - 30) : start], text[end : end + 30]
    if before and (
        before[-1] in "#@/\\_.+~&=*:×^-–—〜～'’−," or (before[-1].isascii() and before[-1].isalpha())
    ):
        return False
    if (after and after[0] in "/\\_~〜～×*^+") or re.match(
        r"[-–—:]\s?\d|[.,]\d|\s?[x×:/+=]\s?\d|\d|-night|\s?(?:泊|夜|晚|박|年制|[天日]\s?\d+\s?[晚夜])", after
    ):
        return False
    if _LINKED.search(before) and re.search(r"\d\W*(?:[^\W\d]{1,7})?\s*[$€£]?\Z", before):
        return False
    if _LINK_NEXT.match(after) or (
        re.match(r"[.)、）:]", after) and start in starts and not after[1:2].isdigit()
    ):
        return False
    if re.search(
        r"(?:\d[ \u00a0\u202f-]|[(（]\s?\d*|[#@]\s|\d\s?[:+/]\s|[泊晚夜박]\s?)\Z", before
    ) or re.match(r"[ \u00a0\u202f]\d", after):
        return False
    if re.match(r"[^\W\d_]", after) and after[0].isascii():
        ordinal = re.match(r"(?:st|nd|rd|th)\b(?! (?:Street|Avenue|Infantry|Division|[A-Z]))", after)
        if not (ordinal or _SUFFIX.match(after)):
            return False
    if after[:1] in (")", "）") and "(" not in before and "（" not in before:
        return False
    if after[:1] == "-" and not _HYPHENATED.match(after):
        return False
    return _no_name_before(before, start, language, starts)


def _no_name_before(before: str, start: int, language: str, starts: set[int]) -> bool:
    if not spaced(language) or language == "ko":
        return not _NAME_BEFORE.search(before)
    word = _WORD_BEFORE.search(before)
    if word is None:
        return True
    name = word[1]
    if name.lower() in _NUMBERED:
        return False
    if name.islower():
        return True
    known = DE_BEFORE if language == "de" else EN_BEFORE
    if name in known or name in MONTHS:
        return True
    return start - len(word.group()) in starts and language == "en" and name.lower().endswith(("ly", "ing"))


def _slips(text: str, match: re.Match[str], language: str, rng: random.Random) -> list[str]:
    token = match.group()
    before, after = text[max(0, match.start() - 30) : match.start()], text[match.end() : match.end() + 20]
    style = "de" if language == "de" else "en"
    if _TIME.match(token):
        return _time_slips(token, rng)
    if _GROUPED[style].match(token):
        return _grouped_slips(token, "." if style == "de" else ",", rng)
    if _DECIMAL[style].match(token):
        return _decimal_slips(token, rng)
    if _DATE.match(token + after[:1] if after[:1] == "." else token):
        day, _, rest = token.partition(".")
        return [f"{new:0{len(day)}d}.{rest}" for new in _near(int(day), 1, 28, rng)] if int(day) <= 28 else []
    if not token.isdigit() or (token[0] == "0"):
        return []
    return _integer_slips(text, token, before, after, language, rng)


def _integer_slips(
    text: str, token: str, before: str, after: str, language: str, rng: random.Random
) -> list[str]:
    value = int(token)
    suffix = re.match(r"(?:st|nd|rd|th)\b", after)
    if suffix is not None:
        # The ending must go on fitting: 21st stays 31st.
        high = 21 if _CENTURY.match(after) else 31
        same = [new for new in range(2, high + 1) if new != value and _ordinal_ending(new) == suffix.group()]
        same.sort(key=lambda new: abs(new - value))
        head = same[:4]
        rng.shuffle(head)
        return [str(new) for new in head] if value <= high else []
    if _CENTURY.match(after):
        return [str(new) for new in _near(value, 2, 20, rng)]
    if re.match(r"\s?(?:月|월)", after):
        return [str(new) for new in _near(value, 2, 12, rng)] if value <= 12 else []
    if _is_day(before, after, language):
        return [str(new) for new in _near(value, 2, 28, rng)] if value <= 28 else []
    if re.match(r"\s?(?:am|pm|a\.m|p\.m|o'clock|o’clock|Uhr|時(?!間)|点|點|시(?!간))", after):
        return [str(new) for new in _near(value, 2, 12 if value <= 12 else 23, rng)] if value <= 23 else []
    if language == "de" and re.match(r"\. ?[A-ZÄÖÜ]", after) and value <= 30:
        return [str(new) for new in _near(value, 2, 30, rng)]
    if _is_year(value, token, before, after):
        return _year_slips(text, value, after, rng)
    high = 10**9
    if re.match(r"\s?(?:%|％|percent|per cent|Prozent)", after):
        if value == 100:
            return []
        high = 99 if value < 100 else high
    elif re.match(r"[ -]?(?:years?[ -]old|jährig|Jahre alt|歳|岁|살|세|minutes?\b|Minuten|分|분)", after):
        high = 59 if re.match(r"\s?(?:分|분)", after) and re.search(r"[時点點시]\s?\Z", before) else 99
    return [str(new) for new in _plain_slips(token, rng) if 1 < new <= high]


def _plain_slips(token: str, rng: random.Random) -> list[int]:
    value = int(token)
    if value <= 12:
        return _near(value, 2, 12, rng)
    swapped = [
        int(token[:at] + token[at + 1] + token[at] + token[at + 2 :])
        for at in range(len(token) - 1)
        if token[at] != token[at + 1] and token[at + 1] != "0" and token[at] != "0"
    ]
    leading = [
        int(str(digit) + token[1:])
        for digit in range(1, 10)
        if digit != int(token[0]) and abs(digit - int(token[0])) <= 3
    ]
    scaled = (
        [value * 10] + ([value // 10] if value % 100 == 0 else []) if value >= 100 and value % 10 == 0 else []
    )
    for group in (swapped, leading, scaled):
        rng.shuffle(group)
    first, second = (swapped, scaled) if rng.random() < 0.5 else (scaled, swapped)
    return [*first, *second, *leading]


def _near(value: int, low: int, high: int, rng: random.Random) -> list[int]:
    around = [new for new in range(max(low, value - 4), min(high, value + 4) + 1) if new != value]
    rng.shuffle(around)
    return around


def _year_slips(text: str, value: int, after: str, rng: random.Random) -> list[str]:
    decade = value % 10 == 0 and (after[:1] == "s" or after[:2] == "er")
    digits = str(value)
    options = [
        value + step for step in ((-20, -10, 10, 20) if decade else (-12, -10, -3, -2, -1, 1, 2, 3, 10, 12))
    ]
    rng.shuffle(options)
    if not decade and digits[2] != digits[3]:
        options.insert(0, int(digits[:2] + digits[3] + digits[2]))
    last = _LAST_SAFE_YEAR if value <= _LAST_SAFE_YEAR else value + 3
    others = [int(year) for year in re.findall(r"(?<!\d)(?:1\d|20)\d\d(?!\d)", text) if int(year) != value]
    return [
        str(new)
        for new in options
        if new <= last
        and (new < 2000 or value >= 1960)
        and new // 100 >= value // 100 - 1
        and all((new < other) == (value < other) and new != other for other in others)
    ]


def _grouped_slips(token: str, mark: str, rng: random.Random) -> list[str]:
    head, _, tail = token.partition(mark)
    plain = token.replace(mark, "")
    options = [_group(int(plain) * 10, mark)] if tail[-1] == "0" else []
    if plain.endswith("00") and len(plain) > 4:
        options.append(_group(int(plain) // 10, mark))
    if len(head) > 1 and head[0] != head[1] and head[1] != "0":
        options.append(head[1] + head[0] + head[2:] + mark + tail)
    if len(set(tail[:3])) > 1:
        options.append(
            head + mark + tail[1] + tail[0] + tail[2:]
            if tail[0] != tail[1]
            else head + mark + tail[0] + tail[2] + tail[1] + tail[3:]
        )
    options.append(str(int(head[0]) % 9 + 1) + head[1:] + mark + tail)
    rng.shuffle(options)
    return [new for new in options if new != token]


def _group(value: int, mark: str) -> str:
    return f"{value:,}".replace(",", mark)


def _decimal_slips(token: str, rng: random.Random) -> list[str]:
    at = next(place for place, sign in enumerate(token) if not sign.isdigit())
    whole, mark, part = token[:at], token[at], token[at + 1 :]
    if len(whole) > 1 and whole[0] == "0":
        return []
    options = []
    if whole[-1] != part[0] and (len(whole) > 1 or part[0] not in "01") and (part[1:] or whole[-1] != "0"):
        options.append(whole[:-1] + part[0] + mark + whole[-1] + part[1:])
    tenth = rng.choice([digit for digit in "23456789" if digit != part[0]])
    options.append(whole + mark + tenth + part[1:])
    return [new for new in options if new != token and not new.startswith("1" + mark)]


def _time_slips(token: str, rng: random.Random) -> list[str]:
    hour, _, minute = token.partition(":")
    value = int(hour)
    if value > 23 or value == 0:
        return []
    # Two digits stay two digits: 12:00 never turns into 9:00 or 09:00.
    low = 2 if len(hour) == 1 or hour[0] == "0" else 10
    high = 9 if len(hour) == 1 or hour[0] == "0" else 12 if value <= 12 else 23
    options = [f"{new:0{len(hour)}d}:{minute}" for new in _near(value, low, high, rng)]
    if minute[0] != minute[1] and int(minute[::-1]) < 60 and rng.random() < 0.5:
        options.insert(0, f"{hour}:{minute[::-1]}")
    return options


def _is_day(before: str, after: str, language: str) -> bool:
    if re.match(r"\s?(?:日(?!間)|号|號|일)", after):
        return True
    word = _WORD_BEFORE.search(before)
    if language == "en" and word is not None and word[1] in MONTHS:
        return not re.match(r"\d", after)
    following = re.match(r"\.? ?(?:of )?([^\W\d_]+)", after)
    return following is not None and following[1] in MONTHS


def _is_year(value: int, token: str, before: str, after: str) -> bool:
    if len(token) != 4 or not _YEARS[0] <= value <= _YEARS[1] or re.search(r"[$€£¥₩]\s?\Z", before):
        return False
    if re.match(r"s\b|er\b|\s?(?:年|년)", after):
        return True
    if value % 100 == 0 and re.match(r" [a-z]+s\b", after):
        return False
    return not _SUFFIX.match(after) and not re.match(r"\s?[%°€$]", after)


def _ordinal_ending(value: int) -> str:
    if value % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
