"""Each category of a set with an example, its edit highlighted (Table 1 of Quinjica et al. 2026)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from analysis.printing.render import Column, Entry, Sheet
from challenge_sets import KINDS, Kind, Pair, Span

CONTEXT = 40
"""Characters shown on either side of the edits."""

_KINDS: dict[Kind, str] = {"error": "error", "variation": "acceptable variation", "control": "control"}


def categories_sheet(pairs: Iterable[Pair]) -> Sheet:
    """One row a category: kind, severities, number of pairs, and the example with the shortest texts.

    Pairs that vetting rejected are left out. The example does not depend on the order of the pairs.
    """
    examples: dict[tuple[Kind, str], Pair] = {}
    counts: Counter[tuple[Kind, str]] = Counter()
    severities: dict[tuple[Kind, str], set[str]] = {}
    for pair in pairs:
        if pair.vetting.status == "rejected":
            continue
        key = (pair.kind, pair.category)
        counts[key] += 1
        severities.setdefault(key, set()).add(pair.severity)
        if key not in examples or _rank(pair) < _rank(examples[key]):
            examples[key] = pair
    rows = []
    for kind, category in sorted(counts, key=lambda key: (KINDS.index(key[0]), key[1])):
        pair = examples[kind, category]
        rows.append(
            (
                Entry(category),
                Entry(_KINDS[kind]),
                Entry(", ".join(sorted(severities[kind, category]))),
                Entry(str(counts[kind, category])),
                excerpt(pair.original, [edit.original for edit in pair.edits]),
                excerpt(pair.perturbed, [edit.perturbed for edit in pair.edits]),
            )
        )
    columns = (
        Column("category", "left"),
        Column("kind", "left"),
        Column("severity", "left"),
        Column("pairs"),
        Column("original", "left"),
        Column("perturbed", "left"),
    )
    caption = (
        "Each category with one of its pairs, the edit highlighted; ‸ marks the place of something "
        "removed or added.",
    )
    return Sheet("categories", "Categories", caption, columns, tuple(rows), long=True)


def _rank(pair: Pair) -> tuple[int, str]:
    return len(pair.original) + len(pair.perturbed), pair.pair


def excerpt(text: str, spans: Sequence[Span]) -> Entry:
    """The text around ``spans`` (in order and apart), which are highlighted; cuts are marked with ``…``."""
    if not spans:
        return Entry(text[: 2 * CONTEXT] + ("…" if len(text) > 2 * CONTEXT else ""))
    start = max(0, spans[0].start - CONTEXT)
    end = min(len(text), spans[-1].end + CONTEXT)
    head, tail = "…" if start else "", "…" if end < len(text) else ""
    offset = len(head) - start
    marked = tuple((span.start + offset, span.end + offset) for span in spans)
    return Entry(head + text[start:end] + tail, highlight=marked)
