"""Where two texts differ: edits of ready-made pairs, whose makers did not say what they changed."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from challenge_sets.records import Edit, Span

# Words, runs of white space, and single other characters (so that CJK text is compared by character).
_UNIT = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|\s+|.", re.DOTALL)


def diff(original: str, perturbed: str) -> tuple[Edit, ...]:
    """Word-level edits that turn ``original`` into ``perturbed``, in order; none for equal texts.

    Outside the edits the texts are equal. The alignment is the longest-matching-block one of
    ``difflib``: short, but not guaranteed minimal.
    """
    left, right = _UNIT.findall(original), _UNIT.findall(perturbed)
    left_at, right_at = _offsets(left), _offsets(right)
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    edits = []
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        start, end = left_at[i], left_at[i_end]
        there, there_end = right_at[j], right_at[j_end]
        edits.append(
            Edit(Span(start, end, original[start:end]), Span(there, there_end, perturbed[there:there_end]))
        )
    return tuple(edits)


def _offsets(units: list[str]) -> list[int]:
    at = [0]
    for unit in units:
        at.append(at[-1] + len(unit))
    return at
