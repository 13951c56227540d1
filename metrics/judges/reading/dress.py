"""The dress of an answer: reasoning before it, formatting around its lines, full-width characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from metrics.judges.reading.reasons import UNFINISHED_REASONING, NotUnderstoodError

MARKS = " \t\r*_~`#"
"""What formatting puts around a word."""

INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"

# One character for one: offsets in the plain text are offsets in the text.
_PLAIN = (
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys((0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), 0x20)
    | dict.fromkeys(map(ord, INVISIBLE), 0x20)
    | {0x2212: ord("-")}
)

# Bullets, numbers of a list, marks of quotation, headings and emphasis in front of a line.
_PREFIX = re.compile(r"[\s>#*_~`•·‣▪●○■+\-–—]*+(?:\(?\d{1,2}[.)、][\s>#*_~`]*+)?+")
_FENCE = re.compile(
    r"\s*(?:`{3,}|~{3,})\s*(?:json|jsonc|text|txt|plain|plaintext|markdown|md|yaml|xml)?\s*$", re.I
)

_REASONING = r"(?:think|thinking|reasoning)>"
_BEGIN = re.compile(rf"[\s\ufeff]*<{_REASONING}", re.I)
_END = re.compile(rf"</{_REASONING}", re.I)


def plain(text: str) -> str:
    """The text with full-width characters and odd spaces as ASCII has them; of the same length."""
    return text if text.isascii() else text.translate(_PLAIN)


def prefix_length(text: str) -> int:
    """How many characters of a plain line are bullets, numbering and marks before its first word."""
    found = _PREFIX.match(text)
    return found.end() if found else 0


def is_fence(line: str) -> bool:
    """Whether the line only opens or closes a block of code."""
    return _FENCE.match(line) is not None


def split_lines(text: str) -> list[str]:
    r"""Lines end at ``\n`` or ``\r\n``; every other separator stays in its line."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def without_reasoning(answer: str, texts: Sequence[str]) -> str:
    """What stands behind the reasoning of a model that shows it.

    ``texts`` are those that the answer is about. Where one of them holds an end of reasoning, the model may
    have repeated it: nothing tells such an end from that of its reasoning.
    Raises ``NotUnderstoodError`` where it is not finished, and where it may have ended elsewhere.
    """
    begun = _BEGIN.match(answer) is not None
    if "</" not in answer:
        if begun:
            raise NotUnderstoodError(UNFINISHED_REASONING)
        return answer
    ends = list(_END.finditer(answer))
    if any(_END.search(text) for text in texts):
        if not begun:
            return answer
        if ends:
            raise NotUnderstoodError("the reasoning ends, and a text holds such an end as well")
    if not ends:
        if begun:
            raise NotUnderstoodError(UNFINISHED_REASONING)
        return answer
    own = answer[ends[-1].end() :]
    if _BEGIN.match(own):
        raise NotUnderstoodError(UNFINISHED_REASONING)
    return own
