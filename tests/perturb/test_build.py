"""Building sets: reproducible bytes, systems, limits, refusals, and the command line."""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from challenge_sets import ChallengeSet, InputError, MissingExtraError
from challenge_sets.languages import english
from challenge_sets.readers import READERS, ReadOptions
from perturb.build import BuildReport, Recipe, build

BUNDLED = Path(__file__).parents[2] / "challenge_sets" / "data" / "translations.jsonl"


def bundled(out: Path, recipe: Recipe = Recipe(), workers: int = 1, **options: object) -> BuildReport:
    reader = READERS["jsonl"](ReadOptions(input=BUNDLED, **options))  # type: ignore[arg-type]
    return build(reader, recipe, out, workers=workers)


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_the_same_bytes_whatever_the_folder_and_the_number_of_workers(tmp_path: Path) -> None:
    recipe = Recipe(seed=5)
    bundled(tmp_path / "one", recipe)
    bundled(tmp_path / "again" / "deeper", recipe)
    bundled(tmp_path / "two", recipe, workers=2)
    assert content(tmp_path / "one") == content(tmp_path / "again" / "deeper") == content(tmp_path / "two")
    bundled(tmp_path / "other", Recipe(seed=6))
    assert content(tmp_path / "one")["pairs.jsonl"] != content(tmp_path / "other")["pairs.jsonl"]


def test_a_pair_does_not_depend_on_the_order_of_the_input(tmp_path: Path) -> None:
    documents: dict[str, list[str]] = {}
    for line in BUNDLED.read_text(encoding="utf-8").splitlines():
        documents.setdefault(json.loads(line)["doc"], []).append(line)
    blocks = list(documents.values())
    random.Random(1).shuffle(blocks)
    shuffled = tmp_path / "shuffled.jsonl"
    shuffled.write_text("\n".join(line for block in blocks for line in block) + "\n", encoding="utf-8")
    recipe = Recipe(categories=("number", "typo", "unrelated_translation", "shuffled_words"))
    bundled(tmp_path / "one", recipe)
    build(READERS["jsonl"](ReadOptions(input=shuffled)), recipe, tmp_path / "two", workers=1)
    one, two = (
        {pair.pair: pair for pair in ChallengeSet(tmp_path / name).pairs()} for name in ("one", "two")
    )
    assert one == two


def test_every_pair_is_made_of_its_translation(tmp_path: Path) -> None:
    report = bundled(tmp_path, target_lang="en")
    held = ChallengeSet(tmp_path)
    translations = {(t.item, t.system): t for t in held.translations()}
    pairs = list(held.pairs())
    assert len({pair.pair for pair in pairs}) == len(pairs) == report.pairs.total()
    for pair in pairs:
        assert pair.original == translations[pair.item, pair.system].hypothesis
        assert pair.generator.seed == 0
    assert {t.target_lang for t in translations.values()} == {"en"}


def test_systems_and_limit(tmp_path: Path) -> None:
    bundled(tmp_path, Recipe(categories=("identity",), systems=("cedar",), limit=7))
    held = ChallengeSet(tmp_path)
    assert {pair.system for pair in held.pairs()} == {"cedar"}
    assert len(list(held.pairs())) == 7
    # The other systems stay at hand, e.g. as pseudo-references.
    assert len(list(held.translations())) == 7 * 4


def test_the_manifest_tells_how_the_set_was_made(tmp_path: Path) -> None:
    bundled(tmp_path, Recipe(categories=("number", "identity"), seed=9), target_lang="de")
    manifest = json.loads((tmp_path / "set.json").read_text(encoding="utf-8"))
    names = ["number", "identity"]
    assert manifest["recipe"] == {"seed": 9, "limit": None, "categories": names, "columns": {}}
    assert set(manifest["generators"]) == {"number", "identity"}
    assert manifest["language_pairs"] == ["en-de"]
    (entry,) = manifest["inputs"]
    assert entry["name"] == "translations.jsonl"
    number = manifest["applicability"]["number"]
    assert number["pairs"] + sum(number["not_applied"].values()) == manifest["counts"]["translations"]


@pytest.mark.parametrize(
    ("recipe", "problem"),
    [
        (Recipe(categories=("numbre",)), "unknown category 'numbre', did you mean 'number'"),
        (Recipe(systems=("oak",)), "no system oak"),
        (Recipe(categories=("modern_sense",)), "needs an LLM"),
    ],
)
def test_wrong_recipes_leave_nothing_behind(tmp_path: Path, recipe: Recipe, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        bundled(tmp_path / "set", recipe)
    assert not (tmp_path / "set").exists()


def test_a_set_never_overwrites_its_input(tmp_path: Path) -> None:
    own = tmp_path / "translations.jsonl"
    own.write_bytes(BUNDLED.read_bytes())
    reader = READERS["jsonl"](ReadOptions(input=own))
    with pytest.raises(InputError, match="would overwrite its own input"):
        build(reader, Recipe(categories=("typo",)), tmp_path, workers=1)
    assert own.read_bytes() == BUNDLED.read_bytes()


def test_a_text_too_long_for_the_parser_is_left_alone(tmp_path: Path) -> None:
    table = tmp_path / "rows.tsv"
    table.write_text("source\thypothesis\nja\t" + "He went home. " * 80_000 + "\n")
    reader = READERS["tsv"](ReadOptions(input=table, source_lang="de", target_lang="en"))
    report = build(reader, Recipe(categories=("tense", "identity")), tmp_path / "set", workers=1)
    assert report.reasons["tense"] == {"the text was not parsed": 1}


def test_no_pair_at_all_is_an_error(tmp_path: Path) -> None:
    table = tmp_path / "rows.tsv"
    table.write_text("source\thypothesis\nja\t\n")
    reader = READERS["tsv"](ReadOptions(input=table, source_lang="de", target_lang="en"))
    with pytest.raises(InputError, match="no pair could be made"):
        build(reader, Recipe(categories=("number",)), tmp_path / "set", workers=1)
    assert not (tmp_path / "set").exists()


def test_without_the_parser_the_other_categories_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(english, "available", lambda: False)
    report = bundled(tmp_path / "set", target_lang="en")
    assert "needs the optional dependency 'english'" in report.skipped["omitted_subject"]
    assert report.pairs["number"] > 0
    with pytest.raises(MissingExtraError, match="pip install"):
        bundled(tmp_path / "named", Recipe(categories=("omitted_subject",)), target_lang="en")
    german = bundled(tmp_path / "german", Recipe(categories=("word_order",)), target_lang="de")
    assert german.pairs["word_order"] > 0
    # German word order needs no parser, whatever else is in the input.
    mixed = bundled(tmp_path / "mixed")
    assert mixed.pairs["word_order"] == german.pairs["word_order"]
    assert mixed.reasons["word_order"]["needs the optional dependency 'english'"] > 0


Run = Callable[..., CompletedProcess[str]]


def test_command_line(tmp_path: Path, command: Run) -> None:
    out = tmp_path / "set"
    args = ("perturb", "build", "--format", "jsonl", "--input", BUNDLED, "--lang-pair", "en-de", "--out", out)
    done = command(*args, "--categories", "number,typo", "--json")
    made = json.loads(done.stdout)["categories"]
    assert made["number"]["pairs"] > 0
    pair = json.loads((out / "pairs.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert {"pair", "item", "system", "category", "kind", "original", "perturbed", "edits"} <= set(pair)
    assert "not both" in command(*args, "--target-lang", "de", code=2).stderr
    assert (
        "unknown format 'xml'" in command("perturb", "build", "--format", "xml", "--out", out, code=2).stderr
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--format", "text", "--src", "x"), "needs --src FILE and at least one --hyp"),
        (("--format", "text", "--src", "x", "--hyp", "y"), "not of the form SYSTEM=FILE"),
        (("--format", "text", "--src", "x", "--hyp", "a=y", "--hyp", "a=z"), "'a' is given twice"),
        (("--format", "text", "--src", "x", "--hyp", "a=y"), "give --lang-pair"),
        (("--format", "text", "--src", "/nope", "--hyp", "a=/nope", "--lang-pair", "en-de"), "no such file"),
        (("--format", "mtme",), "needs --input"),
        (("--format", "tsv", "--input", "x", "--lang-pair", "english"), "not one language pair"),
    ],
)  # fmt: skip
def test_wrong_use(tmp_path: Path, command: Run, arguments: tuple[str, ...], problem: str) -> None:
    assert problem in command("perturb", "build", *arguments, "--out", tmp_path / "set", code=2).stderr
    assert not (tmp_path / "set").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_full_is_no_traceback() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "perturb", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_list(command: Run) -> None:
    rows = {row["category"]: row for row in json.loads(command("perturb", "list", "--json").stdout)}
    assert rows["omitted_subject"]["needs"] == ["parse"]
    assert rows["modern_sense"]["needs"] == ["llm"]
    german = json.loads(command("perturb", "list", "--target-lang", "de", "--json").stdout)
    assert {row["category"]: row["needs"] for row in german}["word_order"] == []
    japanese = json.loads(command("perturb", "list", "--target-lang", "jpn", "--json").stdout)
    assert "omitted_subject" not in {row["category"] for row in japanese}
    assert "number" in {row["category"] for row in japanese}
    assert "typo" in command("perturb", "list").stdout


@pytest.mark.data
def test_ready_made_pairs_are_copied(tmp_path: Path, data: Path) -> None:
    reader = READERS["demetr"](ReadOptions(input=data / "demetr"))
    report = build(
        reader, Recipe(categories=("major_id17_tense", "base_id35_reference")), tmp_path, workers=1
    )
    assert report.pairs == {"major_id17_tense": 988, "base_id35_reference": 1000}
    with pytest.raises(InputError, match="this set has no category number"):
        build(reader, Recipe(categories=("number",)), tmp_path / "other", workers=1)
