"""Speed of reading judges' answers: ours against GEMBA's own parser, where that package is installed.

The answers are those of the Korean benchmark (``--raw``, by default where the public data is beside the
repository), else a generated mix, repeated up to the number wanted. Ours also locates every span, looks
for echoes and reads the label; GEMBA's counts lines.

    python benchmarks/judge_parsing.py [--raw FILE] [--answers N] [--repeat N]
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import io
import json
import random
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# In the place of this folder, whose statistics.py would stand for Python's own.
sys.path[0] = str(ROOT)

from metrics.judges.forms import Form, Judged  # noqa: E402
from metrics.judges.reading import read_answer  # noqa: E402

RAW = ROOT.parent / "shared" / "data" / "korean_context" / "main" / "judge-raw.jsonl"
BEHAVIOURS = (
    "used_correctly",
    "missed_required_context",
    "ignored_irrelevant_context",
    "misused_context",
    "unclear",
)
FORM = Form("mqm", labels={"contextBehavior": BEHAVIOURS})
CLASSES = ("accuracy/mistranslation", "accuracy/omission", "fluency/grammar", "style/awkward")


def given_answers(path: Path) -> list[str]:
    """The raw answers of a JSONL file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line)["raw_judge_output"] for line in lines if line.strip()]


def generated_answers(count: int) -> list[str]:
    """Answers in form, four in ten with errors, some in another dress."""
    rng = random.Random(1)
    answers = []
    for _ in range(count):
        lines = []
        for heading in ("Critical:", "Major:", "Minor:"):
            errors = rng.choices((0, 1, 2), (8, 2, 1))[0]
            words = ["".join(rng.choices("etaoinshrdlu", k=9)) for _ in range(errors)]
            found = [f'{rng.choice(CLASSES)} - "{word}"' for word in words]
            lines += [f"**{heading}**" if rng.random() < 0.1 else heading, *(found or ["no-error"])]
        answers.append("\n".join([*lines, f"contextBehavior: {rng.choice(BEHAVIOURS)}"]))
    return answers


def judged(answer: str) -> Judged:
    """A translation that holds most of what the answer quotes, with a source and two earlier turns."""
    quotes = re.findall(r'"(.*)"', answer)
    sentence = "It is said that nobody went out in the rain, "
    return Judged(sentence + ", ".join(quotes), "Niemand ging hinaus.", ("Es regnet.", "Bleibst du hier?"))


def gemba_parser() -> Callable[[str], Any] | None:
    """GEMBA's function, out of its file: the package cannot be imported without its debugger."""
    package = importlib.util.find_spec("gemba")
    if package is None or package.origin is None:
        return None
    source = Path(package.origin).with_name("gemba_mqm_utils.py").read_text(encoding="utf-8")
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    names: dict[str, Any] = {"json": json, "re": re, "defaultdict": defaultdict}
    exec(compile(ast.Module(functions, []), "gemba_mqm_utils.py", "exec"), names)
    return names["parse_mqm_answer"]


def seconds(work: Callable[[], None], repeat: int) -> float:
    """The fastest of several runs: other work on the machine comes and goes."""
    taken = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--raw", type=Path, help="JSONL with the field raw_judge_output")
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    wanted = parser.parse_args()
    path = wanted.raw or (RAW if RAW.is_file() else None)
    distinct = generated_answers(8000) if path is None else given_answers(path)
    pairs = list(islice(cycle([(answer, judged(answer)) for answer in distinct]), wanted.answers))
    unread = sum(not read_answer(answer, FORM, texts).understood for answer, texts in pairs)
    errors = sum(len(read_answer(answer, FORM, texts).errors or ()) for answer, texts in pairs)
    scale = 100_000 / len(pairs)

    def ours() -> None:
        for answer, texts in pairs:
            read_answer(answer, FORM, texts)

    own = seconds(ours, wanted.repeat) * scale
    print(f"{len(pairs)} answers of {'a generated mix' if path is None else path.name}, {errors} errors")
    print(f"not understood: {unread}")
    print(f"read_answer      {own:6.2f} s per 100,000")
    gemba = gemba_parser()
    if gemba is None:
        print("gemba is not installed: nothing to compare with")
        return

    def theirs() -> None:
        # It prints every line that it does not know.
        with contextlib.redirect_stdout(io.StringIO()):
            for answer, _ in pairs:
                gemba(answer)

    other = seconds(theirs, wanted.repeat) * scale
    print(f"GEMBA's parser   {other:6.2f} s per 100,000")
    print(f"ratio: {own / other:.1f} times GEMBA's")


if __name__ == "__main__":
    main()
