"""Draw pairs to be read one by one, and sum up what two readers said.

``python benchmarks/pair_reading.py draw OUT.csv`` builds the English rule categories on real outputs
(Classical Chinese, Korean conversation, and DEMETR's news and encyclopedia sentences, from the public
data beside the repository) and draws 30 pairs a category, or all there are, with a fixed seed, as
evenly over the three as they allow. Each reader fills in the columns ``verdict`` (clean, unclean) and
``reason`` of a copy without seeing the other's.

``python benchmarks/pair_reading.py join READER_A.csv READER_B.csv`` joins two filled copies into
``docs/pair-reading.csv`` and writes ``docs/pair-reading.md`` with the share that both call clean.
"""

from __future__ import annotations

import csv
import hashlib
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from challenge_sets import ChallengeSet, DataReport, InputError, Pair
from challenge_sets.files import atomic_file
from challenge_sets.parallel import default_workers
from challenge_sets.readers import READERS, Reader, ReadOptions
from perturb.base import PERTURBATIONS
from perturb.build import Recipe, build

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
READING = ROOT / "docs" / "pair-reading.csv"
SUMMARY = ROOT / "docs" / "pair-reading.md"
PER_CATEGORY = 30
SEED = 21
ENOUGH = 0.8
VERDICTS = ("clean", "unclean")
READ = ("pair", "corpus", "category", "perturbed_sha256", "verdict_1", "reason_1", "verdict_2", "reason_2")
DRAWN = ("corpus", "pair", "category", "kind", "source", "original", "perturbed", "edits")


def readers(folder: Path) -> dict[str, Reader]:
    """The three corpora. DEMETR's own translations are perturbed by our rules, not by its own."""
    sentences = folder / "demetr.jsonl"
    demetr = READERS["demetr"](ReadOptions(input=DATA / "demetr" / "critical_id20_shuffled.json"))
    with sentences.open("w", encoding="utf-8") as stream:
        for translation in demetr.translations(DataReport()):
            stream.write(json.dumps(translation.to_json()) + "\n")
    columns = {"source": "ChineseText", "hypothesis": "EnglishText"}
    return {
        "classical-chinese": READERS["csv"](
            ReadOptions(
                input=DATA / "classical_chinese" / "passages.csv",
                source_lang="lzh",
                target_lang="en",
                columns=columns,
            )
        ),
        "korean": READERS["korean-context"](ReadOptions(input=DATA / "korean_context", target_lang="en")),
        "demetr": READERS["jsonl"](ReadOptions(input=sentences)),
    }


def text_hash(text: str) -> str:
    """What ties a verdict to the text that was read: a rule that makes another text makes it void."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def rank(pair: Pair) -> str:
    """A fixed random order."""
    return hashlib.sha256(f"{SEED}/{pair.pair}".encode()).hexdigest()


def english_categories() -> tuple[str, ...]:
    """The rule-made errors and variations of English."""
    return tuple(
        name
        for name in PERTURBATIONS
        if PERTURBATIONS[name].kind != "control"
        and "llm" not in PERTURBATIONS[name].needs
        and PERTURBATIONS[name]().supports("en")
    )


def all_pairs(categories: tuple[str, ...]) -> Iterator[tuple[str, Pair, str]]:
    """Every pair of the three corpora with its source."""
    with tempfile.TemporaryDirectory() as folder:
        for corpus, reader in readers(Path(folder)).items():
            build(reader, Recipe(categories, seed=SEED), Path(folder) / corpus, workers=default_workers())
            held = ChallengeSet(Path(folder) / corpus)
            sources = {(t.item, t.system): t.source for t in held.translations()}
            for pair in held.pairs():
                yield corpus, pair, sources[pair.item, pair.system]


def draw(out: Path) -> None:
    """Write the drawn pairs, corpora in turn until a category has enough."""
    categories = english_categories()
    queues: dict[str, dict[str, list[tuple[Pair, str]]]] = defaultdict(dict)
    for corpus, pair, source in all_pairs(categories):
        queues[pair.category].setdefault(corpus, []).append((pair, source))
    for waiting in queues.values():
        for entries in waiting.values():
            entries.sort(key=lambda entry: rank(entry[0]), reverse=True)
    with atomic_file(out) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow((*DRAWN, "verdict", "reason"))
        for category in categories:
            waiting = queues[category]
            for number in range(PER_CATEGORY):
                turn = [corpus for corpus in waiting if waiting[corpus]]
                if not turn:
                    break
                corpus = turn[number % len(turn)]
                pair, source = waiting[corpus].pop()
                edits = "; ".join(f"{e.original.text!r} -> {e.perturbed.text!r}" for e in pair.edits)
                writer.writerow(
                    (
                        corpus,
                        pair.pair,
                        category,
                        pair.kind,
                        source,
                        pair.original,
                        pair.perturbed,
                        edits,
                        "",
                        "",
                    )
                )


def read_verdicts(path: Path) -> dict[str, dict[str, str]]:
    """Rows of a filled copy by pair; a verdict that is none is an ``InputError``."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = {row["pair"]: row for row in csv.DictReader(stream)}
    for pair, row in rows.items():
        if row["verdict"] not in VERDICTS:
            raise InputError(f"{pair}: the verdict is {row['verdict']!r}, not one of {VERDICTS}", path=path)
    return rows


def join(first: Path, second: Path) -> None:
    """Join two readers' verdicts; both must have read the same pairs."""
    one, two = read_verdicts(first), read_verdicts(second)
    if one.keys() != two.keys():
        raise InputError(f"{first} and {second} hold different pairs")
    with atomic_file(READING) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(READ)
        for pair, row in one.items():
            other = two[pair]
            writer.writerow(
                (
                    pair,
                    row["corpus"],
                    row["category"],
                    text_hash(row["perturbed"]),
                    *(row["verdict"], row["reason"], other["verdict"], other["reason"]),
                )
            )
    with atomic_file(SUMMARY) as stream:
        stream.write(summary(READING))


def summary(path: Path) -> str:
    """The table of ``docs/pair-reading.md``: pairs read a category and the share both call clean."""
    read: dict[str, list[tuple[str, str]]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            read[row["category"]].append((row["verdict_1"], row["verdict_2"]))
    lines = [
        "# Pairs read one by one",
        "",
        "Two readers, neither seeing the other's answers, judged pairs of every English rule category drawn",
        f"with a fixed seed (`python benchmarks/pair_reading.py draw`, seed {SEED}) from real translations:",
        "Classical Chinese passages, Korean conversations, and the news and wiki sentences of DEMETR.",
        "Both readers were language models instructed as MQM annotators, not people. *Clean*: exactly one",
        "targeted edit of the category, fluent apart from the error, and really an error (for a variation:",
        "really acceptable). The rules were written and mended on other draws; this one was made afterwards,",
        "and no rule was changed once it had been read. (Rare categories share texts with them.)",
        "Verdicts and reasons stand in [pair-reading.csv](pair-reading.csv), each tied by a hash to the text",
        f"that was read. A rule with less than {ENOUGH:.0%} clean for both is not done.",
        "",
        "| category | read | both clean | reader 1 clean | reader 2 clean |",
        "|---|--:|--:|--:|--:|",
    ]
    for category, verdicts in read.items():
        n = len(verdicts)
        both, left, right = (
            sum(map(clean, verdicts)) / n
            for clean in (
                lambda v: v == ("clean", "clean"),
                lambda v: v[0] == "clean",
                lambda v: v[1] == "clean",
            )
        )
        lines.append(f"| {category} | {n} | {both:.0%} | {left:.0%} | {right:.0%} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    match sys.argv[1:]:
        case ["draw", out]:
            draw(Path(out))
        case ["join", first, second]:
            join(Path(first), Path(second))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
