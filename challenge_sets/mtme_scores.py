"""Score files of mt-metrics-eval, so that other tools for the WMT metrics tasks can read ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from challenge_sets.errors import InputError
from challenge_sets.files import atomic_file, read_lines
from challenge_sets.report import DataReport

MISSING = "None"
LARGEST = 1e100
"""A score beyond this is none: it would overflow once squared and summed."""


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

    Raises ``InputError`` for a line that is no score (NaN, infinity and anything beyond 1e100 are none), and
    for blocks of unequal length.
    """
    scores: dict[str, list[float | None]] = {}
    for number, line in enumerate(read_lines(path, DataReport()), 1):
        system, tab, value = line.partition("\t")
        score = None if value == MISSING else _finite(value)
        if not tab or (score is None and value != MISSING):
            raise InputError(
                f"a line is SYSTEM TAB SCORE, a score a finite number or {MISSING}", path=path, line=number
            )
        scores.setdefault(system, []).append(score)
    lengths = {system: len(values) for system, values in scores.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"systems have different numbers of scores: {lengths}", path=path)
    return dict(scores)


def read_system_scores(path: Path) -> dict[str, float | None]:
    """Read a file with one score a system, ``None`` where missing; errors as in ``read_segment_scores``."""
    scores = read_segment_scores(path)
    for system, values in scores.items():
        if len(values) != 1:
            raise InputError(f"{len(values)} scores for {system}, a system has one here", path=path)
    return {system: values[0] for system, values in scores.items()}


def metric_score_files(root: Path, language_pair: str) -> dict[tuple[str, str], dict[str, Path]]:
    """The score files of every metric: ``{(METRIC, REFERENCE): {"seg": path, "sys": path}}``, either or both.

    ``REFERENCE`` is what stands behind the name's last hyphen: a reference's name, or ``src`` for a metric
    that uses none. Empty where the folder is absent.
    """
    found: dict[tuple[str, str], dict[str, Path]] = {}
    for path in sorted((root / "metric-scores" / language_pair).glob("*.score")):
        name, _, level = path.name.removesuffix(".score").rpartition(".")
        metric, _, reference = name.rpartition("-")
        if level in ("seg", "sys") and metric:
            found.setdefault((metric, reference), {})[level] = path
    return found


def human_score_files(root: Path, language_pair: str) -> dict[str, dict[str, Path]]:
    """The score files of each kind of human score: ``{NAME: {"seg": path, "sys": path}}``, either or both."""
    found: dict[str, dict[str, Path]] = {}
    start = f"{language_pair}."
    for path in sorted((root / "human-scores").glob("*.score")):
        name, _, level = path.name.removesuffix(".score").removeprefix(start).rpartition(".")
        if path.name.startswith(start) and level in ("seg", "sys") and name:
            found.setdefault(name, {})[level] = path
    return found


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) <= LARGEST else None
