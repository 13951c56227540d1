"""Score files of mt-metrics-eval, so that other tools for the WMT metrics tasks can read ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from challenge_sets.errors import InputError
from challenge_sets.files import atomic_file, read_lines
from challenge_sets.report import DataReport

MISSING = "None"


def segment_score_path(root: Path, language_pair: str, metric: str, reference: str | None) -> Path:
    """``ROOT/metric-scores/PAIR/METRIC-REFERENCE.seg.score``; ``src`` stands for a reference-free metric."""
    for part in (language_pair, metric, reference or ""):
        if Path(part).name != part and part:
            raise InputError(f"{part!r} cannot be part of a file name")
    return root / "metric-scores" / language_pair / f"{metric}-{reference or 'src'}.seg.score"


def write_segment_scores(path: Path, scores: Mapping[str, Iterable[float | None]]) -> None:
    """Write ``system TAB score`` lines, one block a system with a line for each segment in corpus order.

    Scores are oriented so that higher is better, as that tool expects; a missing one is ``None``.
    """
    with atomic_file(path) as stream:
        for system, values in scores.items():
            if not system or any(sign in system for sign in "\t\n\r"):
                raise InputError(f"the system's name {system!r} cannot stand in a score file", path=path)
            for value in values:
                stream.write(f"{system}\t{MISSING if value is None else repr(float(value))}\n")


def read_segment_scores(path: Path) -> dict[str, Sequence[float | None]]:
    """Read a score file: each system's scores in corpus order, ``None`` where missing.

    Raises ``InputError`` for a line that is no score, or blocks of unequal length.
    """
    scores: dict[str, list[float | None]] = {}
    for number, line in enumerate(read_lines(path, DataReport()), 1):
        system, tab, value = line.partition("\t")
        try:
            scores.setdefault(system, []).append(None if value == MISSING else float(value))
        except ValueError as error:
            raise InputError("a line is SYSTEM TAB SCORE", path=path, line=number) from error
        if not tab:
            raise InputError("a line is SYSTEM TAB SCORE", path=path, line=number)
    lengths = {system: len(values) for system, values in scores.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"systems have different numbers of scores: {lengths}", path=path)
    return dict(scores)
