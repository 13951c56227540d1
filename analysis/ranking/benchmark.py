"""A benchmark with human scores, as arrays: the systems that can be ranked, their segments, every metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from challenge_sets import DataReport, InputError
from challenge_sets.files import read_lines
from challenge_sets.languages import split_pair
from challenge_sets.mtme_scores import (
    human_score_files,
    metric_score_files,
    read_segment_scores,
    read_system_scores,
)
from challenge_sets.readers.aligned import domain_and_document

FROM_FILE, FROM_MEAN = "file", "mean of segments"
"""Where system scores come from: a file of their own, or the mean over the segments that have a score."""


@dataclass(frozen=True, slots=True)
class SystemScores:
    """Scores of all ranked systems, higher is better, NaN where missing.

    ``segments`` has shape ``(systems, segments)``, ``system`` shape ``(systems,)``; ``reference`` is ``None``
    for human scores, ``src`` for a metric that uses none.
    """

    name: str
    reference: str | None
    segments: NDArray[np.float64]
    system: NDArray[np.float64]
    system_from: str

    @property
    def label(self) -> str:
        """The name with the reference, as the files spell it."""
        return self.name if self.reference is None else f"{self.name}-{self.reference}"

    @property
    def segments_rated(self) -> int:
        """How many segments have a score for at least one system."""
        return int((~np.isnan(self.segments)).any(axis=0).sum())


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Human scores and metrics over the same systems and segments.

    ``documents`` names the document of each segment (``None``: not known); ``left_out`` says why a block of
    scores is not ranked.
    """

    lang_pair: str
    systems: tuple[str, ...]
    left_out: Mapping[str, str]
    documents: tuple[str, ...] | None
    gold: SystemScores
    metrics: tuple[SystemScores, ...]

    @property
    def segment_count(self) -> int:
        """Segments of the corpus, rated or not."""
        return self.gold.segments.shape[1]

    def segment_units(self) -> NDArray[np.intp]:
        """Each segment a unit of its own, shape ``(segments,)``."""
        return np.arange(self.segment_count)

    def document_units(self) -> NDArray[np.intp]:
        """The number of each segment's document, shape ``(segments,)``; ``InputError`` where not known."""
        if self.documents is None:
            raise InputError(
                "the benchmark does not say which document a segment belongs to",
                hint="documents/PAIR.docs has one line a segment; without it choose --by segment",
            )
        order = {name: place for place, name in enumerate(dict.fromkeys(self.documents))}
        return np.array([order[name] for name in self.documents], dtype=np.intp)


def read_benchmark(root: Path, lang_pair: str, gold: str, metrics: Sequence[str] | None = None) -> Benchmark:
    """Read one language pair of a directory laid out as in mt-metrics-eval.

    Ranked are the systems that have a human score and are no reference (references stand in
    ``references/``); every metric must have scored all of them. Blocks are matched by name: their order
    differs between files. System scores are read from ``.sys.score`` where it exists (BLEU and chrF of a
    corpus are no means of segments) and are means over the segments with a score elsewhere. ``metrics``
    chooses some, as ``NAME`` or ``NAME-REFERENCE``.

    Raises ``InputError`` for an unknown pair, kind of human score or metric, unequal numbers of segments, a
    system that a metric did not score, and where there is nothing to rank.
    """
    pair = _find_pair(root, lang_pair)
    files = _gold_files(root, pair, gold)
    human = read_segment_scores(files["seg"])
    segments = _length(human, files["seg"])
    left_out = _left_out(root, pair, human)
    systems = tuple(sorted(name for name in human if name not in left_out))
    if not systems:
        raise InputError("no system with a human score", path=files["seg"])
    chosen = []
    for (name, reference), paths in _choose(
        metric_score_files(root, pair), metrics, root / "metric-scores" / pair
    ):
        blocks, scores = _metric(name, reference, paths, systems, segments, files["seg"])
        left_out |= {
            block: _reason(root, pair, block) or "no human score"
            for block in sorted(blocks)
            if block not in systems and block not in left_out
        }
        chosen.append(scores)
    return Benchmark(
        lang_pair=pair,
        systems=systems,
        left_out=left_out,
        documents=_documents(root / "documents" / f"{pair}.docs", segments, files["seg"]),
        gold=_arrays(gold, None, human, files.get("sys"), systems, files["seg"]),
        metrics=tuple(chosen),
    )


def _find_pair(root: Path, wanted: str) -> str:
    """The pair as the files spell it, whatever spelling the user chose."""
    folder = root / "metric-scores"
    found = sorted(path.name for path in folder.glob("*") if path.is_dir())
    if wanted in found:
        return wanted
    if not found:
        raise InputError(
            "no scores of metrics",
            path=folder,
            hint="--mtme is a directory with metric-scores/ and human-scores/",
        )
    fitting = [pair for pair in found if _same_pair(pair, wanted)]
    if len(fitting) != 1:
        raise InputError(f"no language pair '{wanted}'", path=folder, hint=f"one of: {', '.join(found)}")
    return fitting[0]


def _same_pair(name: str, wanted: str) -> bool:
    try:
        return split_pair(name) == split_pair(wanted)
    except InputError:
        return False


def _gold_files(root: Path, pair: str, gold: str) -> dict[str, Path]:
    known = {name: paths for name, paths in human_score_files(root, pair).items() if "seg" in paths}
    if gold not in known:
        raise InputError(
            f"no human scores '{gold}' for {pair}",
            path=root / "human-scores",
            hint=f"one of: {', '.join(known)}" if known else "they stand in PAIR.NAME.seg.score",
        )
    return known[gold]


def _reason(root: Path, pair: str, system: str) -> str | None:
    return "a reference" if (root / "references" / f"{pair}.{system}.txt").is_file() else None


def _left_out(root: Path, pair: str, human: Mapping[str, Sequence[float | None]]) -> dict[str, str]:
    reasons = {name: _reason(root, pair, name) for name in sorted(human)}
    for name, values in human.items():
        if reasons[name] is None and all(value is None for value in values):
            reasons[name] = "no human score"
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _choose(
    files: dict[tuple[str, str], dict[str, Path]], wanted: Sequence[str] | None, folder: Path
) -> list[tuple[tuple[str, str], dict[str, Path]]]:
    if not files:
        raise InputError("no scores of metrics", path=folder, hint="they stand in METRIC-REFERENCE.seg.score")
    names = {name for name, _ in files} | {f"{name}-{reference}" for name, reference in files}
    for name in wanted or ():
        if name not in names:
            known = ", ".join(f"{metric}-{reference}" for metric, reference in files)
            raise InputError(f"no metric '{name}'", path=folder, hint=f"known: {known}")
    return [
        (key, paths)
        for key, paths in files.items()
        if wanted is None or key[0] in wanted or "-".join(key) in wanted
    ]


def _metric(
    name: str,
    reference: str,
    paths: dict[str, Path],
    systems: Sequence[str],
    segments: int,
    gold_path: Path,
) -> tuple[set[str], SystemScores]:
    """A metric's scores of the ranked systems, and the names of all blocks in its files."""
    if "seg" in paths:
        blocks = read_segment_scores(paths["seg"])
        count = _length(blocks, paths["seg"])
        if count != segments:
            raise InputError(
                "the files have different numbers of segments",
                hint=f"{gold_path}: {segments} a system\n  {paths['seg']}: {count} a system",
            )
    else:
        # Only system scores were published: what needs segments has no value then.
        blocks = {system: [None] * segments for system in read_system_scores(paths["sys"])}
    scores = _arrays(name, reference, blocks, paths.get("sys"), systems, paths.get("seg", paths.get("sys")))
    return set(blocks), scores


def _arrays(
    name: str,
    reference: str | None,
    blocks: Mapping[str, Sequence[float | None]],
    system_path: Path | None,
    systems: Sequence[str],
    path: Path | None,
) -> SystemScores:
    _need(systems, blocks, path)
    values = np.array([blocks[system] for system in systems], dtype=np.float64)
    if system_path is None:
        known = ~np.isnan(values)
        counts = known.sum(axis=1)
        system = np.full(len(systems), np.nan)
        np.divide(np.where(known, values, 0.0).sum(axis=1), counts, out=system, where=counts > 0)
        return SystemScores(name, reference, values, system, FROM_MEAN)
    given = read_system_scores(system_path)
    _need(systems, given, system_path)
    system = np.array([given[name] for name in systems], dtype=np.float64)
    return SystemScores(name, reference, values, system, FROM_FILE)


def _need(systems: Sequence[str], blocks: Mapping[str, object], path: Path | None) -> None:
    missing = [system for system in systems if system not in blocks]
    if missing:
        raise InputError(
            f"no scores of {', '.join(missing)}",
            path=path,
            hint="all systems with a human score are ranked: score them, or choose metrics with --metrics",
        )


def _length(blocks: Mapping[str, Sequence[float | None]], path: Path) -> int:
    lengths = Counter(len(values) for values in blocks.values())
    if not lengths:
        raise InputError("no scores in the file", path=path)
    return next(iter(lengths))


def _documents(path: Path, segments: int, gold_path: Path) -> tuple[str, ...] | None:
    if not path.is_file():
        return None
    lines = enumerate(read_lines(path, DataReport()), 1)
    names = tuple(domain_and_document(line, path, number)[1] for number, line in lines)
    if len(names) != segments:
        raise InputError(
            "the files have different numbers of segments",
            hint=f"{gold_path}: {segments} a system\n  {path}: {len(names)} lines",
        )
    return names
