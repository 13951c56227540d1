"""How fast sets are built: rule pairs without a parse, and the parser's own speed kept with one.

Run: ``python benchmarks/build.py`` (uses DEMETR's sentences where the public data lies beside the
repository, else the bundled ones). Prints seconds, pairs a second, peak memory, and the ratio of our
parsing build to spaCy's own ``pipe`` over the same texts and as many processes.
"""

from __future__ import annotations

import json
import resource
import tempfile
import time
from pathlib import Path

from challenge_sets.languages import english
from challenge_sets.parallel import default_workers
from challenge_sets.readers import READERS, ReadOptions
from perturb.base import PERTURBATIONS
from perturb.build import Recipe, build

ROOT = Path(__file__).parents[1]
DEMETR = ROOT.parent / "shared" / "data" / "demetr"
PAIRS_WANTED = 100_000
TEXTS_PARSED = 8_000
PROCESSES = min(2, default_workers())


def texts() -> list[tuple[str, str, str]]:
    """Distinct (source, source language, English hypothesis)."""
    if DEMETR.is_dir():
        reader = READERS["demetr"](ReadOptions(input=DEMETR / "major_id17_tense.json"))
    else:
        reader = READERS["jsonl"](
            ReadOptions(input=ROOT / "challenge_sets" / "data" / "translations.jsonl", target_lang="en")
        )
    from challenge_sets import DataReport

    return [(t.source, t.source_lang, t.hypothesis) for t in reader.translations(DataReport())]


def write_input(path: Path, rows: int) -> list[str]:
    """A JSONL input of ``rows`` distinct texts (a running number makes repeated ones differ)."""
    base = texts()
    hypotheses = []
    with path.open("w", encoding="utf-8") as stream:
        for number in range(rows):
            source, source_lang, hypothesis = base[number % len(base)]
            if number >= len(base):
                hypothesis = f"{hypothesis} It was in {2_000 + number // len(base)}."
            hypotheses.append(hypothesis)
            row = {"item": str(number), "source": source, "hypothesis": hypothesis}
            stream.write(json.dumps(row | {"source_lang": source_lang, "target_lang": "en"}) + "\n")
    return hypotheses


def timed_build(path: Path, out: Path, categories: tuple[str, ...]) -> tuple[float, int]:
    """Seconds and pairs."""
    start = time.perf_counter()
    report = build(
        READERS["jsonl"](ReadOptions(input=path)), Recipe(categories=categories), out, workers=PROCESSES
    )
    return time.perf_counter() - start, report.pairs.total()


def peak_mib() -> float:
    """Peak resident memory of this process and of its largest worker."""
    return (
        sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        / 1024
    )


def main() -> None:
    english_ones = [name for name in PERTURBATIONS if PERTURBATIONS[name]().supports("en")]
    plain = tuple(
        name
        for name in english_ones
        if PERTURBATIONS[name].kind != "control" and not PERTURBATIONS[name].needs & {"parse", "llm"}
    )
    parsed = tuple(name for name in english_ones if "parse" in PERTURBATIONS[name].needs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input.jsonl"
        for share in (10, 1):
            write_input(path, PAIRS_WANTED // len(plain) * 5 // 4 // share)
            seconds, pairs = timed_build(path, Path(folder) / "plain", plain)
            print(
                f"no parse: {pairs:,} pairs of {len(plain)} categories in {seconds:.1f} s with {PROCESSES} "
                f"processes ({pairs / seconds:,.0f} a second), peak memory so far {peak_mib():.0f} MiB"
            )
        hypotheses = write_input(path, TEXTS_PARSED)
        seconds, pairs = timed_build(path, Path(folder) / "parsed", parsed)
        start = time.perf_counter()
        parses = sum(1 for _ in english.load().pipe(hypotheses, n_process=PROCESSES, batch_size=128))
        alone = time.perf_counter() - start
        print(
            f"with parses: {parses:,} texts, {pairs:,} pairs of {len(parsed)} categories in {seconds:.1f} s; "
            f"spaCy's pipe over {PROCESSES} processes alone {alone:.1f} s: speed kept {alone / seconds:.0%}"
        )


if __name__ == "__main__":
    main()
