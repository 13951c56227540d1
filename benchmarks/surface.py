"""Speed of the surface metrics: a plain loop over sacrebleu against ``python -m metrics score``.

Sets have five variants a segment: one from DEMETR, where the public data is beside the repository, and one
of generated text. The loop scores both sides of every pair with ``sentence_bleu`` and ``sentence_chrf``; the
runner does all that a user waits for: reading the set, two processes, the store, both tables.

    python benchmarks/surface.py [--workers N] [--repeat N]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# In the place of this folder, whose statistics.py would stand for Python's own: sacrebleu imports that.
sys.path[0] = str(ROOT)

from challenge_sets import ChallengeSet, Edit, Generator, Pair, SetWriter, Span, Translation  # noqa: E402

DEMETR = ROOT.parent / "shared" / "data" / "demetr"
VARIANTS = 5
Segment = tuple[str, str, str, str, list[str]]  # item, source, translation, reference, variants


def demetr_segments() -> Iterator[Segment]:
    """Segments with at least five usable variants, the first five in the order of the files' names."""
    found: dict[int, Segment] = {}
    for path in sorted(DEMETR.glob("*.json")):
        if path.name.startswith("base_"):
            continue
        for row in json.loads(path.read_text(encoding="utf-8")):
            if row["pert_check"] and row["pert_sent"] != row["mt_sent"]:
                start = (str(row["id"]), row["src_sent"], row["mt_sent"], row["eng_sent"], [])
                found.setdefault(row["id"], start)[4].append(row["pert_sent"])
    for item, source, translation, reference, variants in found.values():
        if len(variants) >= VARIANTS:
            yield item, source, translation, reference, variants[:VARIANTS]


def generated_segments(count: int) -> Iterator[Segment]:
    """Random words with the length of news text; each variant drops one word."""
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(5000)]
    for number in range(count):
        reference = rng.choices(words, k=rng.randint(15, 35))
        translation = [word if rng.random() < 0.7 else rng.choice(words) for word in reference]
        dropped = rng.sample(range(len(translation)), VARIANTS)
        variants = [" ".join(translation[:at] + translation[at + 1 :]) for at in dropped]
        yield str(number), "-", " ".join(translation), " ".join(reference), variants


def write_set(segments: list[Segment], out: Path) -> None:
    """Write the segments as a set; each edit covers the whole text."""
    with SetWriter(out, {"name": "speed"}) as writer:
        for item, source, translation, reference, variants in segments:
            writer.add(
                Translation(item, "system", source, translation, "mul", "en", item, reference=reference)
            )
            whole = Span(0, len(translation), translation)
            for number, variant in enumerate(variants):
                edit = Edit(whole, Span(0, len(variant), variant))
                writer.add(
                    Pair(
                        pair=f"{item}-{number}",
                        item=item,
                        system="system",
                        category=f"variant_{number}",
                        kind="error",
                        original=translation,
                        perturbed=variant,
                        edits=(edit,),
                        severity="major",
                        generator=Generator("given", "1", "given"),
                    )
                )


def plain_loop(segments: list[Segment]) -> dict[tuple[str, str, str], float]:
    """(metric, pair, side) to score, by sacrebleu's own functions."""
    import sacrebleu

    scores = {}
    for item, _, translation, reference, variants in segments:
        for number, variant in enumerate(variants):
            for side, text in (("original", translation), ("perturbed", variant)):
                key = (f"{item}-{number}", side)
                bleu = sacrebleu.sentence_bleu(text, [reference])
                scores["bleu", *key] = bleu.score
                scores["chrf", *key] = sacrebleu.sentence_chrf(text, [reference]).score
    return scores


def measure(segments: list[Segment], source: str, workers: int, repeat: int) -> None:
    """Print the seconds of the loop and of the runner, their ratio, and the largest difference."""
    from metrics import read_scores
    from metrics.runner import score_set

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        write_set(segments, out / "set")
        loop, runner, again = [], [], []
        # In turns, and the best of each: other work on the machine comes and goes.
        for number in range(repeat):
            start = time.perf_counter()
            expected = plain_loop(segments)
            loop.append(time.perf_counter() - start)
            scores = out / f"scores-{number}"
            for seconds in (runner, again):
                start = time.perf_counter()
                score_set(ChallengeSet(out / "set"), ["bleu", "chrf"], scores, workers=workers)
                seconds.append(time.perf_counter() - start)
        found = {(score.metric, score.pair, str(score.side)): score.raw for score in read_scores(scores)}
    if found.keys() != expected.keys():
        sys.exit("the runner and the loop did not score the same cells")
    difference = max(abs((found[key] or 0.0) - value) for key, value in expected.items())
    print(f"{len(segments)} segments of {source}, {len(expected) // 4} pairs, {len(expected)} scores")
    for what, seconds in (
        ("loop over sentence_bleu and sentence_chrf", loop),
        (f"runner, {workers} processes", runner),
        ("runner again, all from the store", again),
    ):
        print(f"{what:42} {min(seconds):.2f} s   (all runs: {', '.join(f'{s:.2f}' for s in seconds)})")
    print(f"ratio: {min(loop) / min(runner):.1f}")
    print(f"largest difference: {difference:.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    wanted = parser.parse_args()
    # Starting processes and reading the set weigh on the small one; the large one is the size of a WMT task.
    if DEMETR.is_dir():
        measure(list(demetr_segments()), "DEMETR", wanted.workers, wanted.repeat)
    measure(list(generated_segments(6000)), "generated text", wanted.workers, 1)


if __name__ == "__main__":
    main()
