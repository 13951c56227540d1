"""Scores for other tools: the segment scores of the undamaged translations, as mt-metrics-eval reads them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from urllib.parse import quote

from challenge_sets import ChallengeSet, InputError
from challenge_sets.mtme_scores import segment_score_path, write_segment_scores
from metrics.base import MetricAbout
from metrics.tables import read_about, read_scores


def export_mtme(challenge_set: ChallengeSet, scores: str | Path, out: str | Path) -> list[Path]:
    """Write ``OUT/metric-scores/PAIR/METRIC-REFERENCE.seg.score`` for every metric of a score table.

    One block a system under test, one line an item in the order of the set; ``None`` where the set scored
    no pair of that translation. Values are oriented so that higher is better, as that tool stores them.
    System scores are not written: they are no mean of segment scores for BLEU and chrF. Nor are those of
    metrics that score documents.

    Raises ``InputError`` where the scores are of another set, or where two signatures of one metric
    would end in one file.
    """
    about = read_about(scores)
    if about.fingerprint != challenge_set.fingerprint:
        raise InputError("the scores are not those of this set", path=scores, hint="score the set again")
    items, pair_of_target = _corpus(challenge_set)
    systems = sorted(challenge_set.manifest["systems_under_test"])
    values: dict[str, dict[tuple[str, str], float | None]] = defaultdict(dict)
    for score in read_scores(scores):
        if score.side == "original" and score.unit == "segment":
            values[score.signature][score.item, score.system] = score.value
    written: dict[Path, str] = {}
    for entry in about.metrics:
        metric = entry.about
        if metric.unit != "segment":
            continue
        language_pair = pair_of_target.get(metric.target_lang)
        if language_pair is None:
            continue
        # The name of a metric may hold a path or a hub id, and what a file's name may not.
        name = quote(metric.name, safe="+")
        path = segment_score_path(Path(out), language_pair, name, _reference(metric, challenge_set))
        if path in written:
            raise InputError(
                f"two signatures of {metric.name} would share {path.name}",
                hint=f"{written[path]}\n  {metric.signature}",
            )
        written[path] = metric.signature
        found = values[metric.signature]
        write_segment_scores(
            path,
            {system: [found.get((item, system)) for item in items[language_pair]] for system in systems},
        )
    return list(written)


def _corpus(challenge_set: ChallengeSet) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Items of each language pair in the set's order, and the language pair of each target language."""
    items: dict[str, dict[str, None]] = defaultdict(dict)
    pairs: dict[str, str] = {}
    for translation in challenge_set.translations():
        pair = f"{translation.source_lang}-{translation.target_lang}"
        known = pairs.setdefault(translation.target_lang, pair)
        if known != pair:
            raise InputError(
                f"the set mixes {known} and {pair}: mt-metrics-eval keeps one corpus a language pair",
                hint="build a set of one language pair with --lang-pair",
            )
        items[pair][translation.item] = None
    return {pair: list(names) for pair, names in items.items()}, pairs


def _reference(metric: MetricAbout, challenge_set: ChallengeSet) -> str | None:
    """The name of the reference in the file's name; ``None`` for a metric that uses none."""
    if "reference" not in metric.needs:
        return None
    if metric.pseudo_reference:
        # A system's name may hold what a file's name may not.
        return quote(metric.pseudo_reference, safe="")
    return challenge_set.manifest.get("reference") or "ref"
