"""GEMBA's prompts as the installed package makes them, read without running it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from challenge_sets import InputError
from metrics.judges import gemba_prompts
from metrics.judges.forms import Form, Scoring
from metrics.judges.prompt_sets import GEMBA_NAMES, Inputs, gemba

TEXTS = {
    "plain": ("Der Hund schläft.", "The dog sleeps.", "The dog is asleep."),
    "braces": ("Ein {Hund} {} {{0}} {source_lang}", "A {dog} {target_seg} }{", "{reference_seg}"),
    "lines": ("Eins\nzwei", "One\ntwo\n\nthree", "One, two"),
    "signs": ("100 % $x \\n & <b>", "\\ %s ${a} <i>x</i>", "«ja» – ‘no’"),
    "other scripts": ("一只狗在睡觉。", "개가 자고 있다.", "犬が寝ている。"),
    "empty": ("", "", ""),
}
SPANS = 'Major:\naccuracy/mistranslation - "dog"\nMinor:\nno-error'


@pytest.fixture(scope="module")
def package() -> Path:
    spec = find_spec("gemba")
    if spec is None or not spec.submodule_search_locations:
        message = "the package gemba is not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return Path(spec.submodule_search_locations[0])


@pytest.fixture
def run(package: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """Run one file of the package by itself: the debugger and the colours that it imports are stubs."""
    for name in ("ipdb", "termcolor"):
        stub = ModuleType(name)
        stub.colored = str  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, stub)

    def run(name: str) -> dict[str, Any]:
        namespace: dict[str, Any] = {}
        exec((package / name).read_text(encoding="utf-8"), namespace)
        return namespace

    return run


def theirs(run: Callable[[str], dict[str, Any]], template: Any, **data: str) -> list[dict[str, str]]:
    made = run("gemba_mqm_utils.py")["apply_template"](template, data)
    return made if isinstance(made, list) else [{"role": "user", "content": made}]


@pytest.mark.parametrize("texts", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("languages", [("English", "German"), ("Chinese", "English"), ("Korean", "Japanese")])
def test_messages_are_those_of_the_package(
    run: Callable[[str], dict[str, Any]], texts: tuple[str, str, str], languages: tuple[str, str]
) -> None:
    source, hypothesis, reference = texts
    data = {
        "source_lang": languages[0],
        "target_lang": languages[1],
        "source_seg": source,
        "target_seg": hypothesis,
        "reference_seg": reference,
        "error_spans": SPANS,
    }
    inputs = Inputs(*languages, source, hypothesis, reference, earlier=SPANS)
    prompts, mqm, esa = run("prompt.py")["prompts"], run("gemba_mqm_utils.py"), run("gemba_esa.py")
    expected = {
        "gemba-da": [prompts["GEMBA-DA"]["prompt"]],
        "gemba-da-ref": [prompts["GEMBA-DA_ref"]["prompt"]],
        "gemba-mqm": [mqm["TEMPLATE_GEMBA_MQM"]],
        "gemba-esa": [esa["TEMPLATE_GEMBA_ESA_ERROR_SPANS"], esa["TEMPLATE_GEMBA_ESA_RANKING"]],
    }
    for name, templates in expected.items():
        steps = gemba(name).steps
        assert len(steps) == len(templates)
        for step, template in zip(steps, templates, strict=True):
            prompt = step.messages(inputs)
            assert list(prompt.messages) == theirs(run, template, **data)
            assert "fence" not in prompt.hazards


def test_the_prompt_with_a_reference_is_ours_on_their_template(
    run: Callable[[str], dict[str, Any]],
) -> None:
    source, hypothesis, reference = TEXTS["plain"]
    data = {"source_lang": "German", "target_lang": "English", "source_seg": source, "target_seg": hypothesis}
    *head, last = theirs(run, run("gemba_mqm_utils.py")["TEMPLATE_GEMBA_MQM"], **data)
    prompts = gemba("gemba-mqm-ref")
    made = prompts.steps[0].messages(Inputs("German", "English", source, hypothesis, reference)).messages
    before, line, after = last["content"].partition("English translation:\n")
    block = f"English human reference:\n```{reference}```\n"
    assert list(made) == [*head, {"role": "user", "content": before + block + line + after}]
    assert prompts.needs == {"source", "reference"}
    assert "ours" in prompts.description and "by this project" in prompts.origin


def test_how_answers_count(package: Path) -> None:
    sets = {name: gemba(name) for name in GEMBA_NAMES}
    for name in ("gemba-mqm", "gemba-mqm-ref"):
        assert sets[name].scoring == Scoring(cap=25.0, most_errors=5, critical_classes=("non-translation",))
        assert [step.form for step in sets[name].steps] == [Form("mqm")]
        assert not sets[name].higher_is_better
    for name in ("gemba-da", "gemba-da-ref", "gemba-esa"):
        assert sets[name].scoring is None and sets[name].higher_is_better
        assert sets[name].steps[-1].form == Form("number")
    assert sets["gemba-esa"].steps[0].form == Form("mqm", severities=("major", "minor"))
    for prompts in sets.values():
        assert prompts.version in prompts.origin and not prompts.structured
    assert len({prompts.digest for prompts in sets.values()}) == len(sets)


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("en", "English"),
        ("zh", "Chinese"),
        ("zh-Hans", "Chinese"),
        ("zh-Hant", "Chinese (Traditional)"),
        ("ru", "Russian"),
        ("cs", "Czech"),
        ("lzh", "Literary Chinese"),
    ],
)
def test_languages(package: Path, tag: str, name: str) -> None:
    assert gemba("gemba-da").language(tag) == name


def test_the_package_is_not_imported(package: Path) -> None:
    program = (
        "import sys; from metrics.judges.prompt_sets import GEMBA_NAMES, gemba;"
        "[gemba(name) for name in GEMBA_NAMES];"
        "print([name for name in sys.modules if name.split('.')[0] in ('gemba', 'openai', 'ipdb', 'jinja2')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- Without the package, or with another one -----------------------------------------------------------


@pytest.fixture
def changed(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the package that is found in place of the installed one."""
    for path in package.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())

    class Spec:
        submodule_search_locations = [str(tmp_path)]  # noqa: RUF012

    monkeypatch.setattr(gemba_prompts, "find_spec", lambda _: Spec)
    gemba.cache_clear()
    yield tmp_path
    gemba.cache_clear()


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gemba_prompts, "find_spec", lambda _: None)
    gemba.cache_clear()
    for name in GEMBA_NAMES:
        with pytest.raises(InputError) as caught:
            gemba(name)
        assert str(caught.value) == "GEMBA's prompts are not installed: pip install --no-deps gemba==0.1.3"


def test_a_name_that_is_none() -> None:
    with pytest.raises(InputError, match="there is no prompt set 'gemba-stars'"):
        gemba("gemba-stars")


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "problem"),
    [
        ("gemba-da", "prompt.py", '"GEMBA-DA":', '"GEMBA-DB":', "there is no 'GEMBA-DA'"),
        ("gemba-da", "prompt.py", "prompts = {", "prompted = {", "there is no 'prompts'"),
        ("gemba-da", "prompt.py", "{target_seg}", "{target}", "asks for 'target', which is not known"),
        ("gemba-da", "prompt.py", "{target_seg}", "", "a template has no place for the translation"),
        ("gemba-da", "prompt.py", "{source_seg}", "{source_seg.x}", "more than a name"),
        ("gemba-da", "prompt.py", "language_codes = {", "codes = {", "there is no 'language_codes'"),
        ("gemba-da-ref", "prompt.py", "{reference_seg}", "", "a template has no place for the reference"),
        ("gemba-mqm", "gemba_mqm_utils.py", "def mqm_fewshot", "def other", "there is no function 'mqm_fews"),
        ("gemba-mqm", "gemba_mqm_utils.py", "    template =", "    text =", "there is no 'template' in 'mqm"),
        ("gemba-mqm", "gemba_mqm_utils.py", '    "ende": {', '    "ennl": {', "are not what they were"),
        ("gemba-mqm", "gemba_mqm_utils.py", '"answer": """', '"reply": """', "are not what they were"),
        ("gemba-mqm", "gemba_mqm_utils.py", "= mqm_fewshot(", "= mqm_fewshot() #", "lists no examples"),
        ("gemba-mqm", "gemba_mqm_utils.py", "def apply_template", "def apply template", "is not Python"),
        ("gemba-mqm-ref", "gemba_mqm_utils.py", "translation:\n", "version:\n", "no line of its own for the"),
        ("gemba-esa", "gemba_esa.py", "TEMPLATE_GEMBA_ESA_RANKING", "RANKING", "there is no 'TEMPLATE_GEMBA"),
        ("gemba-esa", "gemba_esa.py", "{error_spans}", "", "has no place for the error spans"),
    ],
)
def test_a_package_that_does_not_hold_what_it_should(
    changed: Path, name: str, file: str, old: str, new: str, problem: str
) -> None:
    path = changed / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        gemba(name)
    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"{path}: gemba 0.1.3: ")


def test_a_file_that_is_not_there(changed: Path) -> None:
    (changed / "gemba_esa.py").unlink()
    with pytest.raises(InputError, match=r"gemba_esa\.py: no such file"):
        gemba("gemba-esa")


def test_values_are_never_computed(changed: Path) -> None:
    path = changed / "prompt.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"prompt": \'Score', '"prompt": exit() or \'Score'), encoding="utf-8")
    with pytest.raises(InputError, match="'GEMBA-DA' is no plain value"):
        gemba("gemba-da")


def test_the_digest_follows_the_package(changed: Path) -> None:
    before = gemba("gemba-mqm").digest
    path = changed / "gemba_mqm_utils.py"
    path.write_text(path.read_text(encoding="utf-8").replace('- "dir"', '- "mit dir"'), encoding="utf-8")
    gemba.cache_clear()
    assert gemba("gemba-mqm").digest != before
