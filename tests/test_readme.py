"""Every command of the README runs, in the order in which a newcomer would type them."""

import itertools
import json
import os
import random
import re
import shlex
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines() if line
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A folder with what the README takes for granted: a user's files, and ``data/``."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "data").symlink_to(data)
    lines: dict[str, list[str]] = {"src.txt": [], "mysystem.txt": [], "ref.txt": []}
    bundled = ROOT / "challenge_sets" / "data" / "translations.jsonl"
    for record in map(json.loads, bundled.read_text(encoding="utf-8").splitlines()):
        if record["target_lang"] == "de" and record["system"] == "birch":
            lines["src.txt"].append(record["source"])
            lines["mysystem.txt"].append(record["hypothesis"])
            lines["ref.txt"].append(record["reference"])
    for name, texts in lines.items():
        (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    write_judgements(folder)
    return folder


def write_judgements(folder: Path) -> None:
    """Scores of four systems in eight documents by three annotators: as judgements, and as pairs."""
    rng = random.Random(1)
    judgements = ["condition,system,doc,segment,annotator,score"]
    pairs = ["doc,annotator,DOC,MIX"]
    for system, doc, segment in itertools.product(range(4), range(8), range(3)):
        quality = 60 + 4 * system + rng.gauss(0, 6)
        for annotator in range(3):
            scores = [round(quality + rng.gauss(0, 5)) for _ in ("DOC", "MIX", "SEG")]
            for condition, score in zip(("DOC", "MIX", "SEG"), scores, strict=True):
                judgements.append(f"{condition},s{system},d{doc},{segment},a{annotator},{score}")
            pairs.append(f"d{doc},a{annotator},{scores[0]},{scores[1]}")
    (folder / "judgements.csv").write_text("\n".join(judgements) + "\n", encoding="utf-8")
    (folder / "pairs.csv").write_text("\n".join(pairs) + "\n", encoding="utf-8")


def run(command: list[str], cwd: Path) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False, env=os.environ
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.data
def test_the_python_commands_in_order(desk: Path) -> None:
    commands = [command for command in COMMANDS if command.startswith("python ")]
    assert len(commands) >= 12
    for command in commands:
        output = run([sys.executable, *shlex.split(command)[1:]], desk)
        assert output.strip(), command
    assert (desk / "out/mine/tables/sensitivity.md").is_file()
    assert list((desk / "out/mine/mtme").rglob("*.seg.score"))


def test_no_other_command_goes_untested() -> None:
    others = [command for command in COMMANDS if not command.startswith("python ")]
    assert others == ["make demo", "make test", "make english", "make neural", "make judge"]


def test_the_continuous_integration_runs_the_test_command() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def make(target: str, *variables: str) -> str:
    """Run a target with this interpreter's environment standing in for ``.venv``."""
    if not (ROOT / ".venv" / "bin" / "python").exists():
        pytest.skip("there is no .venv: the tests were not started by make test")
    return run(["make", "--no-print-directory", target, *variables], ROOT)


def test_make_demo(tmp_path: Path) -> None:
    output = make("demo", f"DEMO={tmp_path}")
    assert str(tmp_path / "tables" / "sensitivity.md") in output.splitlines()[-4:]
    assert (tmp_path / "tables" / "sensitivity.tex").is_file()


def test_make_english() -> None:
    """Resolved in full, but nothing is installed under the feet of the other tests."""
    make("english", f"PIP={sys.executable} -m pip install --quiet --dry-run")


def test_make_judge_installs_nothing_heavy() -> None:
    make("judge", f"PIP={sys.executable} -m pip install --quiet --dry-run")
    needed, left = set(), ["openai", "jinja2"]
    while left:
        name = left.pop()
        if name not in needed:
            needed.add(name)
            stated = (Requirement(each) for each in requires(name) or ())
            plain = {"extra": ""}
            left += [each.name for each in stated if not each.marker or each.marker.evaluate(plain)]
    assert not needed & {"torch", "transformers", "numpy", "pandas", "scipy", "pyarrow", "spacy"}
    assert len(needed) < 25


def test_make_neural_is_what_make_test_runs_its_neural_tests_in() -> None:
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "neural: $(NEURAL)/.neural" in rules and "$(NEURAL)/.test: $(NEURAL)/.neural" in rules
    assert "$(NEURAL)/bin/python -m pytest tests/metrics/neural" in rules
