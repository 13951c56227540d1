"""The lines of an answer where a quote may hold several lines of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from metrics.judges.reading.dress import split_lines
from metrics.judges.reading.quotes import CLOSING, OPENING

_OPEN_QUOTE = re.compile(
    rf"^[^\n\"“„«「『]{{1,120}}[-–—:][ \t*_]{{0,4}}([{re.escape(OPENING)}])", re.MULTILINE
)
_MOST_ENDS = 32


def logical_lines(answer: str, texts: Sequence[str]) -> tuple[list[str], bool]:
    """The lines of an answer; a quote of several lines of one of the texts belongs to the line it begins on.

    Also whether that is in doubt: whether the quote may as well end on its first line.
    """
    answer = answer.replace("\r\n", "\n")
    lines: list[str] = []
    doubtful = False
    start = at = 0
    while (opening := _OPEN_QUOTE.search(answer, at)) is not None:
        first = opening.end()
        closing = CLOSING.get(opening[1], opening[1])
        last = max((_end_within(answer, first, text, closing) for text in texts), default=0)
        at = max(first, last)
        if last:
            before, line_end, opened = answer[start:first].rpartition("\n")
            lines += before.split("\n") if line_end else []
            doubtful |= any(mark in answer[first : answer.find("\n", first)] for mark in closing)
            end = answer.find("\n", last)
            end = len(answer) if end < 0 else end
            lines.append(opened + answer[first:end])
            start = at = end + 1
    return lines + (split_lines(answer[start:]) if start <= len(answer) else []), doubtful


def _end_within(answer: str, first: int, text: str, closing: str) -> int:
    """Where a quote ends that begins at ``first`` and repeats several lines of the text; 0 if it does not."""
    line_end = answer.find("\n", first) + 1
    if not line_end or answer[first:line_end] not in text:
        return 0
    reach = answer[first : first + len(text) + 1]
    ends = [at for at, character in enumerate(reach) if character in closing and "\n" in reach[:at]]
    return next((first + at for at in reversed(ends[-_MOST_ENDS:]) if reach[:at] in text), 0)
