"""Where a quote ends: quotes hold quotes, and text follows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from metrics.judges.reading.dress import plain

CLOSING = {
    '"': '"”“',
    "“": '”"“',
    "”": '”"',
    "„": '“”"',
    "«": "»",
    "»": "«",
    "‹": "›",
    "「": "」",
    "『": "』",
    "‘": "’'",
    "’": "’",
    "'": "'’",
    "`": "`'´",
}
"""Opening quote to the characters that may close it."""

OPENING = "".join(CLOSING)

_NESTING = {"“": "“", "„": "„", "«": "«", "»": "»", "‹": "‹", "「": "「", "『": "『", "‘": "‘"}
_MOST_ENDS = 12


class Quote(NamedTuple):
    """What a quote holds, exactly as written, and the text after it; ``closed`` tells whether it ends."""

    text: str
    after: str
    closed: bool


def read_quote(quoted: str, found: Callable[[str], bool]) -> Quote:
    """The quote at the start of ``quoted``, whose first character opens it.

    Of several possible ends the last one is taken whose content is ``found`` in the translation; where none
    is, the first one that no quote inside opens. So a second quote on the line belongs to the explanation:
    one line is one error.
    """
    text = plain(quoted)
    closing = CLOSING[text[0]]
    ends = [at for at in range(1, len(text)) if text[at] in closing and _may_end(text, at)]
    if not ends:
        return Quote(quoted[1:], "", closed=False)
    end = ends[0]
    if len(ends) > 1:
        tried = ends if len(ends) <= 2 * _MOST_ENDS else ends[:_MOST_ENDS] + ends[-_MOST_ENDS:]
        fitting = (
            at
            for at in reversed(tried)
            if quoted[1:at].strip() and not _opens(text, at) and found(quoted[1:at])
        )
        end = next(fitting, _outermost(text, ends))
    return Quote(quoted[1:end], quoted[end + 1 :], closed=True)


def _may_end(text: str, at: int) -> bool:
    """An apostrophe inside a word ends nothing."""
    if text[at] not in "'’":
        return True
    return not (text[at - 1].isalnum() and text[at + 1 : at + 2].isalnum())


def _opens(text: str, at: int) -> bool:
    """Whether the mark rather opens a quote than ends one."""
    return text[at] in "\"'`“‘" and text[at - 1].isspace() and text[at + 1 : at + 2].isalnum()


def _outermost(text: str, ends: list[int]) -> int:
    """The first end that no quote inside has opened; the last one if all are taken."""
    opener = _NESTING.get(text[0])
    depth, at = 0, 1
    for end in ends:
        if opener is not None and opener not in CLOSING[text[0]]:
            depth += text.count(opener, at, end)
        elif _opens(text, end):
            depth += 1
            at = end + 1
            continue
        at = end + 1
        if depth == 0:
            return end
        depth -= 1
    return ends[-1]
