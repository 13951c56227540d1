"""Speed and memory of the neural metrics against what a user would otherwise run, on one thread.

Models have random weights and middle size (COMET: 6 layers, 384 wide) and lie in a hub cache of their own, so
that the metrics are measured as a run uses them: by name, in batches as the runner cuts them. Seconds are
of the processor, without loading. The two ways run in turns; the other one counts at its best batch size.

    OMP_NUM_THREADS=1 python benchmarks/neural.py [--part NAME] [--originals N]
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "benchmarks"
# Last, not first: a file of this folder has the name of a module of Python's own.
sys.path[:] = [str(ROOT), *(entry for entry in sys.path if Path(entry).resolve() != HERE), str(HERE)]

from neural_memory import growth_of  # noqa: E402
from neural_models import COMET, KIWI, METRICX, SCORE_TOKEN, SMALL, XCOMET, Row, build_hub, rows  # noqa: E402

from challenge_sets.parallel import chunked  # noqa: E402
from metrics import METRICS  # noqa: E402
from metrics.requests import ModelOptions, Request, Settings  # noqa: E402

SIZES = (8, 16, 32)
FLAT_MB = 32
"""The tokens of the last 8,192 texts and 1,024 prompts are kept: about 20 MB, whatever else comes."""


class Timed(NamedTuple):
    """Seconds of the processor for all texts, and their scores in the order of the texts."""

    seconds: float
    scores: list[float]


Ours = Callable[[], Timed]
Other = Callable[[int], Timed]
"""Called with a batch size."""


@dataclass(frozen=True)
class Line:
    """One figure, and whether the goal set for it is met."""

    what: str
    figure: str
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None
    note: str = ""


def ours(name: str, texts: Sequence[Row], options: ModelOptions) -> Ours:
    """What times our metric: a new object each time, which has met none of the texts before."""
    cls = METRICS[name].configured(options)
    reads = cls.inputs()

    def request(row: Row) -> Request:
        return Request(row.mt, row.src, row.ref if "reference" in reads else None)

    # As the runner hands them over: by length, those with one reference side by side.
    order = sorted(range(len(texts)), key=lambda place: (len(texts[place].ref), texts[place].ref))

    def run() -> Timed:
        metric = cls(Settings("en", None, options))
        metric.close()
        metric.score([request(next(rows(1, 0, seed=3)))])
        found: dict[int, float] = {}
        start = time.process_time()
        for places in chunked(order, metric.batch):
            answers = metric.score([request(texts[place]) for place in places])
            found |= {place: answer.raw for place, answer in zip(places, answers, strict=True)}
        return Timed(time.process_time() - start, [found[place] for place in range(len(texts))])

    return run


def predict(checkpoint: str, texts: Sequence[Row], fields: Sequence[str]) -> Other:
    """What times the package's own ``predict()`` at a batch size, with its default sorting by length."""
    import comet

    model = comet.load_from_checkpoint(comet.download_model(checkpoint, local_files_only=True))
    samples = [{name: getattr(row, name) for name in fields} for row in texts]

    def run(size: int) -> Timed:
        settings = {"batch_size": size, "gpus": 0, "progress_bar": False, "num_workers": 0}
        model.predict(samples[:1], **settings)
        start = time.process_time()
        scores = model.predict(samples, **settings).scores
        return Timed(time.process_time() - start, scores)

    return run


def plain_loop(texts: Sequence[Row], whole_layer: bool) -> Other:
    """What times a loop over MetricX sorted by length; ``whole_layer``: with the logits of all tokens."""
    import torch
    from transformers import AutoTokenizer, MT5ForConditionalGeneration

    model = MT5ForConditionalGeneration.from_pretrained(METRICX, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained("google/mt5-large", local_files_only=True)
    prompts = [f"source: {row.src} candidate: {row.mt} reference: {row.ref}" for row in texts]
    row_of_score = model.lm_head.weight[SCORE_TOKEN]

    def logits(ids: Any, mask: Any) -> Any:
        first = torch.zeros((len(ids), 1), dtype=torch.long)
        if whole_layer:
            output = model(input_ids=ids, attention_mask=mask, decoder_input_ids=first, use_cache=False)
            return output.logits[:, 0, SCORE_TOKEN]
        states = model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        decoded = model.decoder(
            input_ids=first, encoder_hidden_states=states, encoder_attention_mask=mask, use_cache=False
        )
        return decoded.last_hidden_state[:, 0] @ row_of_score

    def run(size: int) -> Timed:
        start = time.process_time()
        ids = [each[:-1] for each in tokenizer(prompts, max_length=1536, truncation=True)["input_ids"]]
        order = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
        scores = [0.0] * len(ids)
        with torch.inference_mode():
            for begin in range(0, len(order), size):
                places = order[begin : begin + size]
                batch = tokenizer.pad({"input_ids": [ids[place] for place in places]}, return_tensors="pt")
                found = logits(batch["input_ids"], batch["attention_mask"]).clamp(0.0, 25.0).tolist()
                for place, score in zip(places, found, strict=True):
                    scores[place] = score
        return Timed(time.process_time() - start, scores)

    return run


def in_turns(
    title: str, our_way: Ours, others: Mapping[str, Other], goal: float, tolerance: float, rounds: int = 1
) -> Iterator[Line]:
    """Ours and each other way at each batch size, one after the other.

    Ratios are of the best time of each. ``tolerance`` is how far scores may lie apart.
    """
    mine: list[Timed] = []
    theirs: dict[str, dict[int, Timed]] = {name: {} for name in others}
    for _ in range(rounds):
        for size in SIZES:
            mine.append(our_way())
            for name, way in others.items():
                timed = way(size)
                theirs[name][size] = min(timed, theirs[name].get(size, timed), key=lambda each: each.seconds)
    best, scores = min(each.seconds for each in mine), mine[0].scores
    apart = f"{len(set(scores))} distinct scores from {min(scores):.3f} to {max(scores):.3f}"
    yield Line(f"{title}: ours", f"{best:.2f} s", note=f"{len(scores)} texts, {apart}")
    for name, of in theirs.items():
        size = min(of, key=lambda size: of[size].seconds)
        ratio = of[size].seconds / best
        every = ", ".join(f"{size}: {timed.seconds:.2f}" for size, timed in of.items())
        note = f"best at batch size {size} ({every})"
        yield Line(
            f"{title}: {name}", f"{of[size].seconds:.2f} s", ratio, f">= {goal:g}", ratio >= goal, note
        )
    runs = [timed.scores for of in theirs.values() for timed in of.values()]
    furthest = max(difference(scores, run) for run in runs)
    own = max(difference(*two) for two in combinations(runs, 2))
    note = f"batch sizes among themselves, without ours: {own:.1e}"
    met = furthest < tolerance
    yield Line(f"{title}: largest difference", f"{furthest:.1e}", None, f"< {tolerance:g}", met, note)


def difference(some: Sequence[float], others: Sequence[float]) -> float:
    return max(abs(one - other) for one, other in zip(some, others, strict=True))


def measure_regression(options: argparse.Namespace) -> Iterator[Line]:
    texts = list(rows(options.originals, options.variants))
    others = {"predict()": predict(COMET, texts, ("mt", "src", "ref"))}
    yield from in_turns("regression COMET", ours("comet22", texts, options.model), others, 2.5, 1e-6)


def measure_joint(options: argparse.Namespace) -> Iterator[Line]:
    for title, name, checkpoint, fields, share in (
        ("CometKiwi", "cometkiwi22", KIWI, ("mt", "src"), 8),
        ("XCOMET with reference", "xcomet-xl", XCOMET, ("mt", "src", "ref"), 25),
    ):
        texts = list(rows(max(2, options.originals // share), options.variants))
        others = {"predict()": predict(checkpoint, texts, fields)}
        yield from in_turns(title, ours(name, texts, options.model), others, 1.0, 1e-6)


def measure_metricx(options: argparse.Namespace) -> Iterator[Line]:
    texts = list(rows(max(2, options.originals // 8), options.variants))
    others = {
        "sorted loop, all logits": plain_loop(texts, whole_layer=True),
        "sorted loop, one logit": plain_loop(texts, whole_layer=False),
    }
    # Of a scale that is 25 times as wide.
    our_way = ours("metricx24-large", texts, options.model)
    yield from in_turns("MetricX", our_way, others, 1.0, 25e-6, rounds=2)


def measure_memory(options: argparse.Namespace) -> Iterator[Line]:
    """By how much the peak of a process grows after its first batch, with few and with many texts."""
    found = []
    for count in (options.originals * 5, options.originals * 50):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            found.append(pool.submit(growth_of, count, options.variants, options.model).result())
        before, growth, seconds = found[-1]
        note = f"from {before:.0f} MB with the model and one batch; {seconds:.1f} s"
        yield Line(f"MetricX: peak memory grows, {count} texts", f"{growth:.1f} MB", note=note)
    more = found[1].growth - found[0].growth
    goal, met = f"< {FLAT_MB} MB", more < FLAT_MB
    yield Line("MetricX: the many above the few", f"{more:.1f} MB", None, goal, met, "caches of bounded size")


def measure_imports(options: argparse.Namespace) -> Iterator[Line]:
    heavy = ("torch", "transformers", "comet", "huggingface_hub", "pytorch_lightning")
    code = f"import sys, metrics.cli; print(*[name for name in {heavy} if name in sys.modules])"
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    loaded = done.stdout.strip()
    yield Line(
        "import metrics.cli",
        f"{seconds:.2f} s",
        None,
        "no torch",
        not loaded,
        f"loaded: {loaded or 'none'} of {', '.join(heavy)}",
    )


MEASUREMENTS: dict[str, tuple[Callable[[argparse.Namespace], Iterator[Line]], tuple[str, ...]]] = {
    "imports": (measure_imports, ()),
    "memory": (measure_memory, (SMALL,)),
    "regression": (measure_regression, (COMET,)),
    "joint": (measure_joint, (KIWI, XCOMET)),
    "metricx": (measure_metricx, (METRICX,)),
}
"""By name, with the checkpoints that are needed."""


def be_quiet() -> None:
    warnings.simplefilter("ignore")
    import comet  # noqa: F401 -- it sets the root logger up

    logging.getLogger().setLevel(logging.ERROR)
    for name in ("comet", "lightning", "lightning.pytorch", "pytorch_lightning", "transformers"):
        logging.getLogger(name).setLevel(logging.ERROR)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=MEASUREMENTS, help="all of them, if none is named")
    parser.add_argument("--originals", type=int, default=200, help="of which some parts take a share")
    parser.add_argument("--variants", type=int, default=5, help="of each original")
    parser.add_argument("--threads", type=int, default=1, help="of both ways; one where memory is measured")
    parser.add_argument("--batch-tokens", type=int, help="of our metrics, if not their own choice")
    options = parser.parse_args()
    options.model = ModelOptions(device="cpu", batch_tokens=options.batch_tokens)
    parts = dict.fromkeys(options.part or MEASUREMENTS)
    missed = 0
    print(f"{'':46} {'figure':>9} {'ratio':>6}  {'goal':15}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        # Before the libraries read them; the first three would overrule HF_HOME.
        for overruling in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE"):
            os.environ.pop(overruling, None)
        os.environ |= {"HF_HOME": folder, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        import torch

        torch.set_num_threads(options.threads)
        be_quiet()
        for part in parts:
            measure, checkpoints = MEASUREMENTS[part]
            build_hub(Path(folder), checkpoints)
            for line in measure(options):
                ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
                goal = "" if line.met is None else f"{line.goal} {'met' if line.met else 'MISSED'}"
                print(f"{line.what:46} {line.figure:>9} {ratio:>6}  {goal:15} {line.note}", flush=True)
                missed += line.met is False
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
