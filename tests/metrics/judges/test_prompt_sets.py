"""Prompt sets as directories: what reading refuses, how templates are filled, what digests cover."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from challenge_sets import InputError, Turn
from metrics.judges.forms import Form, Scoring
from metrics.judges.options import JudgeOptions
from metrics.judges.prompt_sets import Inputs, PromptSet, read_prompt_set
from metrics.judges.questions import Questions
from metrics.llm.calls import Call
from metrics.llm.options import LlmOptions
from metrics.requests import Request, Segment

MANIFEST = """\
name = "mine"
version = "1"
description = "a judge of mine"
unit = "segment"
needs = ["source"]
output = "number"
"""
USER = "<source>{{ source }}</source>\n<translation>{{ translation }}</translation>\n"
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["score"],
    "properties": {"score": {"type": "number"}},
}
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """``write(user, manifest, **files)`` writes a prompt set; a value that is no string is JSON."""

    def write(user: str = USER, manifest: str = MANIFEST, **files: Any) -> Path:
        folder = tmp_path / "mine"
        folder.mkdir(exist_ok=True)
        (folder / "user.md").write_text(user, encoding="utf-8")
        (folder / "manifest.toml").write_text(manifest, encoding="utf-8")
        for name, value in files.items():
            path = folder / {"system": "system.md"}.get(name, f"{name}.json")
            path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return folder

    return write


def with_keys(text: str) -> str:
    """The manifest with these lines in place of those of the same keys, tables last."""
    keys = [line.split("=")[0].strip() for line in text.splitlines() if "=" in line]
    kept = [line for line in MANIFEST.splitlines() if line.split("=")[0].strip() not in keys]
    return "\n".join([*kept, text]) + "\n"


def user_message(prompts: PromptSet, inputs: Inputs, structured: bool = False) -> str:
    return prompts.steps[0].messages(inputs, structured).messages[-1]["content"]


ITEM = Inputs("Korean", "English", "소스", "text", "reference")


def test_a_small_set(write: Write) -> None:
    prompts = read_prompt_set(write())
    assert (prompts.name, prompts.version, prompts.unit) == ("mine", "1", "segment")
    assert prompts.needs == {"source"}
    assert prompts.higher_is_better and prompts.scoring is None and not prompts.structured
    (step,) = prompts.steps
    assert step.form == Form("number")
    assert step.messages(ITEM).messages == (
        {"role": "user", "content": "<source>소스</source>\n<translation>text</translation>"},
    )
    with pytest.raises(InputError, match="no schema"):
        step.messages(ITEM, True)


def test_everything_in_a_manifest(write: Write) -> None:
    manifest = with_keys(
        """\
citation = "me"
output = "mqm"
max_tokens = 99
typical_tokens = 9
classes = ["a/b", "c"]
severities = ["critical", "minor"]
[score]
cap = 30
most_errors = 4
weights = { minor = 0.5 }
critical_classes = ["c"]
[labels]
tone = ["good", "bad"]
[languages]
zh_CN = "Mandarin"
"""
    )
    prompts = read_prompt_set(write(manifest=manifest))
    assert prompts.scoring == Scoring({"critical": 25, "major": 5, "minor": 0.5}, 30.0, 4, ("c",))
    assert prompts.steps[0].form == Form(
        "mqm", classes=("a/b", "c"), severities=("critical", "minor"), labels={"tone": ("good", "bad")}
    )
    assert not prompts.higher_is_better
    assert (prompts.max_tokens, prompts.typical_tokens, prompts.citation) == (99, 9, "me")
    assert prompts.language("zh") == "Mandarin"
    assert prompts.language("zh-Hant") == "Chinese (Traditional)"
    assert prompts.language("de") == "German"


def test_a_scale_where_less_is_better(write: Write) -> None:
    manifest = with_keys("[score]\nminimum = 1\nmaximum = 5\nhigher_is_better = false\n")
    prompts = read_prompt_set(write(manifest=manifest))
    assert not prompts.higher_is_better
    assert (prompts.steps[0].form.minimum, prompts.steps[0].form.maximum) == (1.0, 5.0)


@pytest.mark.parametrize("tag", ["xx", "und", "mul", "nonsense"])
def test_a_language_without_a_name(write: Write, tag: str) -> None:
    with pytest.raises(InputError):
        read_prompt_set(write()).language(tag)


# --- What is refused: (manifest keys, part of the message, line) ----------------------------------------


@pytest.mark.parametrize(
    ("keys", "problem", "line"),
    [
        ("unitt = 'segment'", "'unitt' is no key of a manifest, did you mean 'unit'?", 7),
        ("name = ''", "'name' must be a string that is not blank", 6),
        ("name = 'a b'", "'name' is made of letters", 6),
        ("name = 3", "'name' must be a string", 6),
        ("unit = 'sentence'", "'unit' is 'sentence', it is one of segment, document", 6),
        ("output = 'score'", "'output' is 'score', it is one of mqm, number, esa", 6),
        ("format = 'xml'", "'format' is 'xml', it is one of text, json", 7),
        ("template = 'mustache'", "'template' is 'mustache'", 7),
        ("needs = 'source'", "'needs' must be a list of strings", 6),
        ("needs = ['sauce']", "'needs' has 'sauce', there are: source, reference, context, document", 6),
        ("needs = ['source', 'source']", "'needs' names something twice", 6),
        ("needs = ['source', 'document']", "'needs' has 'document' where the unit is 'document'", 6),
        ("unit = 'document'", "'needs' has 'document' where", 4),
        ("unit = 'document'\nneeds = ['document', 'context']", "'needs' has 'context'", 6),
        ("classes = ['a']", "'classes' belongs to prompt sets that mark errors", 7),
        ("[labels]\nx = ['a']", "'labels' belongs to prompt sets that mark errors", 7),
        ("output = 'mqm'\nseverities = ['bad']", "'severities' has 'bad'", 7),
        ("output = 'mqm'\n[labels]\nx = []", "'labels.x' must list the values", 8),
        ("output = 'mqm'\n[labels]\nx = 'a'", "'labels.x' must be a list of strings", 8),
        ("[score]\ncap = 25", "'score.cap' is no setting of the score of output 'number'", 8),
        ("output = 'mqm'\n[score]\nminimum = 1", "'score.minimum' is no setting of the score", 8),
        ("output = 'mqm'\n[score]\ncap = -1", "'score.cap' must be above 0", 8),
        ("output = 'mqm'\n[score]\ncap = inf", "'score.cap' must be a number", 8),
        ("output = 'mqm'\n[score]\nmost_errors = 0", "'score.most_errors' must be a whole number from 1", 8),
        ("output = 'mqm'\n[score]\nmost_errors = true", "'score.most_errors' must be a whole number", 8),
        ("output = 'mqm'\n[score.weights]\nminor = -1", "'score.weights.minor' must be a number from 0", 8),
        ("output = 'mqm'\n[score.weights]\nmild = 1", "'score.weights.mild' is no severity", 8),
        (
            "output = 'mqm'\nclasses = ['a']\n[score]\ncritical_classes = ['b']",
            "'score.critical_classes' has 'b', there are: a",
            9,
        ),
        ("score = 3", "'score' must be a table", 7),
        ("[score]\nminimum = 5\nmaximum = 5", "'score.minimum' is 5, which is not below", 8),
        ("[score]\nhigher_is_better = 'no'", "'score.higher_is_better' must be true or false", 8),
        ("max_tokens = 0", "'max_tokens' must be a whole number from 1", 7),
        ("max_tokens = 10\ntypical_tokens = 20", "'typical_tokens' is 20, more than max_tokens (10)", 8),
        ("[languages]\nde = 3", "'languages.de' must be a string", 8),
        ("[languages]\nzz = 'Z'", "unknown language 'zz'", None),
        ("[languages]\nde = \"a\\nb\"", "'languages.de' must be a name on one line", 8),
        ("unit = 'document'\nneeds = ['document']\ntemplate = 'dollar'", "documents need 'jinja'", 7),
        ("broken =", "broken TOML", 7),
    ],
)  # fmt: skip
def test_manifests_that_are_refused(write: Write, keys: str, problem: str, line: int | None) -> None:
    with pytest.raises(InputError) as caught:
        read_prompt_set(write(manifest=with_keys(keys)))
    assert problem in str(caught.value)
    assert caught.value.line == line
    if line is not None:
        assert Path(str(caught.value.path)).name == "manifest.toml"


@pytest.mark.parametrize("key", ["name", "version", "description", "unit", "output"])
def test_keys_that_must_be_there(write: Write, key: str) -> None:
    lines = [line for line in MANIFEST.splitlines() if not line.startswith(key)]
    with pytest.raises(InputError, match=f"manifest.toml: '{key}' is missing"):
        read_prompt_set(write(manifest="\n".join(lines)))


@pytest.mark.parametrize(
    ("user", "problem", "line"),
    [
        ("<a>{{ source }}</a>", "the template has no place for the translation", None),
        ("<a>{{ translation }}</a>", "has no place for the source, which the prompt set needs", None),
        ("", "is empty", None),
        (USER + "\n{{ transl }}", "uses 'transl', which is nothing that it can use, did you mean 'tran", 4),
        (USER + "<r>{{ reference }}</r>", "uses 'reference', and the manifest does not say that", 3),
        (USER + "{% for turn in context %}{% endfor %}", "uses 'context', and the manifest does not", 3),
        ("<a>{{ source }}</a>\n{{ translation }}", "'translation' stands in no fence", 2),
        ("{{ source }}\n<a>{{ translation }}</a>", "'source' stands in no fence", 1),
        (USER + "{{ translation|upper }}", "the filter 'upper' would change a text", 3),
        (USER + "{{ translation|e }}", "the filter 'e' would change a text", 3),
        (USER + "<a>{{ translation[:5] }}</a>", "a text can only be put out as it is", 3),
        (USER + "{{ translation|length }}", "a text can only be put out as it is", 3),
        (USER + "{% if translation == 'a' %}{% endif %}", "a text can only be put out as it is", 3),
        (USER + "{% if 'a' in translation %}{% endif %}", "a text can only be put out as it is", 3),
        (USER + "{{ 'x' ~ translation }}", "it cannot hold 'Concat'", 3),
        (USER + "{{ translation.__class__ }}", "cannot use the attribute '__class__'", 3),
        (USER + "{{ translation._number }}", "cannot use the attribute '_number'", 3),
        (USER + "{{ translation['_number'] }}", "write names after a dot", 3),
        (USER + "{{ source.upper }}", "the template does not work", 3),
        (USER + "{{ source.upper() }}", "it cannot hold 'Call'", 3),
        (USER + "{{ range(9) }}", "it cannot hold 'Call'", 3),
        (USER + "{% for x in range(99999) %}{% endfor %}", "a loop goes over 'context' or 'segments'", 3),
        (USER + "{% for x in 'abc' %}{% endfor %}", "a loop goes over 'context' or 'segments'", 3),
        (USER + "{% set x = 1 %}", "it cannot hold 'Assign'", 3),
        (USER + "{% macro x() %}{% endmacro %}", "it cannot hold 'Macro'", 3),
        (USER + "{% include 'system.md' %}", "it cannot hold 'Include'", 3),
        (USER + "{% import 'system.md' as x %}", "it cannot hold 'Import'", 3),
        (USER + "{% extends 'system.md' %}", "it cannot hold 'Extends'", 3),
        (USER + "{% filter upper %}{{ translation }}{% endfilter %}", "it cannot hold 'FilterBlock'", 3),
        (USER + "{{ 'x' * 99999999 }}", "it cannot hold 'Mul'", 3),
        (USER + "{{ 9 ** 9 ** 9 }}", "it cannot hold 'Pow'", 3),
        (USER + "{{ self }}", "uses 'self', which is nothing that it can use", 3),
        (USER + "{{ structured }}", "bool to be put out", 3),
        (USER + "{% if x", "broken template", 3),
        (USER + "\ue000", "U+E000 and U+E001 cannot stand in a template", None),
        (USER + '{{ "\\ue0000\\ue001" }}', "str to be put out", 3),
        (USER + "{% if structured is upper %}{% endif %}", "there is no test 'upper'", 3),
    ],
)  # fmt: skip
def test_templates_that_are_refused(write: Write, user: str, problem: str, line: int | None) -> None:
    with pytest.raises(InputError) as caught:
        read_prompt_set(write(user))
    assert problem in str(caught.value)
    assert (Path(str(caught.value.path)).name, caught.value.line) == ("user.md", line)


@pytest.mark.parametrize(
    ("user", "problem", "line"),
    [
        ("<a>${currentSource}</a>${translation}", "'translation' stands in no fence", 1),
        ("<a>${currentSource}</a>", "the template has no place for the translation", None),
        ("<a>${translation}</a>\n${curentSource}", "uses ${curentSource}, which is nothing that it can", 2),
        ("<a>${currentSource}</a>\n<a>${reference}</a>", "uses ${reference}, and the manifest does not", 2),
        ("<a>${currentSource}</a>\n<a>${contextBlock}</a>", "uses ${contextBlock}, and the manifest", 2),
        ("<a>${currentSource}</a>\n${a.b}", "uses ${a.b}, which is nothing", 2),
    ],
)  # fmt: skip
def test_placeholder_templates_that_are_refused(
    write: Write, user: str, problem: str, line: int | None
) -> None:
    with pytest.raises(InputError) as caught:
        read_prompt_set(write(user, with_keys("template = 'dollar'")))
    assert problem in str(caught.value)
    assert (Path(str(caught.value.path)).name, caught.value.line) == ("user.md", line)


def test_placeholders(write: Write) -> None:
    user = (
        "$5 {x} {{ y }} $name ${sourceLanguageLabel}-${targetLanguageLabel}\n"
        "<a>${contextBlock}\n${currentSource}</a>\n<b>${translation}</b>\n<c>${reference}</c>\n"
    )
    needs = "needs = ['source', 'context', 'reference']\ntemplate = 'dollar'"
    prompts = read_prompt_set(write(user, with_keys(needs), system="All in ${targetLanguageLabel}: $$"))
    inputs = Inputs(
        "Korean", "English", "소스", "${reference} $x", "ref", (Turn("A", "b"), Turn("C", "d", "e"))
    )
    system, message = prompts.steps[0].messages(inputs).messages
    assert system == {"role": "system", "content": "All in English: $$"}
    assert message["content"] == (
        "$5 {x} {{ y }} $name Korean-English\n<a>1. [A] b\n2. [C, e] d\n소스</a>\n"
        "<b>${reference} $x</b>\n<c>ref</c>"
    )


def test_loops_tests_and_switches(write: Write) -> None:
    user = (
        "{% if context %}\n{% for turn in context[-2:] %}\n"
        "{{ loop.index }} <x>{{ turn.speaker }}</x>{% if turn.time %}<x>{{ turn.time }}</x>{% endif %}"
        "<x>{{ turn.text }}</x>\n{% endfor %}\n{% endif %}\n"
        "{{ context|length }} turns into {{ target_lang }}{{ ' (JSON)' if structured else '' }}\n"
        "{% if reference is defined %}never{% endif %}" + USER
    )
    prompts = read_prompt_set(write(user, with_keys("needs = ['source', 'context']"), schema=SCHEMA))
    turns = (Turn("A", "b"), Turn("C", "d", "e"), Turn("F", "g"))
    inputs = Inputs("Korean", "English", "소스", "{{ reference }}", context=turns)
    assert user_message(prompts, inputs, True) == (
        "1 <x>C</x><x>e</x><x>d</x>\n2 <x>F</x><x>g</x>\n3 turns into English (JSON)\n"
        "<source>소스</source>\n<translation>{{ reference }}</translation>"
    )
    assert user_message(prompts, Inputs("Korean", "English", "a", "b")).startswith("0 turns into English\n")


def test_a_document(write: Write) -> None:
    needs = "unit = 'document'\nneeds = ['source', 'document', 'reference']"
    user = (
        "{% for segment in segments %}<s>{{ segment.source }}</s><t>{{ segment.translation }}</t>"
        "<r>{{ segment.reference }}</r>\n{% endfor %}"
    )
    prompts = read_prompt_set(write(user, with_keys(needs)))
    inputs = Inputs("a", "b", segments=(Segment("t1", "s1", "r1"), Segment("t2", "s2", "r2")))
    assert user_message(prompts, inputs) == "<s>s1</s><t>t1</t><r>r1</r>\n<s>s2</s><t>t2</t><r>r2</r>"
    with pytest.raises(InputError, match="no place for the reference of every segment"):
        read_prompt_set(write(user.replace("in segments", "in segments[:2]"), with_keys(needs)))
    with pytest.raises(InputError, match="take that of each of the segments"):
        read_prompt_set(write(user + USER, with_keys(needs)))
    deep = "{% for a in segments %}" * 3 + "{% endfor %}" * 3
    with pytest.raises(InputError, match="loops nest at most 2 deep"):
        read_prompt_set(write(user + deep, with_keys(needs)))


def test_a_template_that_gives_too_much_is_stopped(write: Write) -> None:
    needs = "unit = 'document'\nneeds = ['document']"
    user = "{% for a in segments %}{% for b in segments %}<t>{{ b.translation }}</t>" + "x" * 9000
    prompts = read_prompt_set(write(user + "{% endfor %}{% endfor %}", with_keys(needs)))
    with pytest.raises(InputError, match="gives more than 4,194,304 characters"):
        user_message(prompts, Inputs("a", "b", segments=(Segment("t"),) * 500))


@pytest.mark.parametrize(
    "deep",
    [
        "{{ " + "not " * 5000 + "structured }}",
        "{{ " + "(" * 5000 + "structured" + ")" * 5000 + " }}",
        "{% if structured %}" * 500 + "{% endif %}" * 500,
        "{% if structured %}" * 120 + "{% endif %}" * 120,
        "{{ 1" + ".real" * 3000 + " }}",
    ],
)
def test_deep_nesting_is_an_error_like_any_other(write: Write, deep: str) -> None:
    with pytest.raises(InputError, match=r"user\.md"):
        read_prompt_set(write(USER + deep))


def test_a_branch_without_a_fence_is_refused_when_it_is_reached(write: Write) -> None:
    needs = "needs = ['source', 'context']"
    user = USER + (
        "{% for turn in context %}<x>{{ turn.text }}</x>"
        "{% if loop.index > 2 %}{{ turn.text }}{% endif %}{% endfor %}"
    )
    prompts = read_prompt_set(write(user, with_keys(needs)))
    assert user_message(prompts, Inputs("a", "b", "s", "t", context=(Turn("a", "b"),) * 2))
    with pytest.raises(InputError, match="'context' stands in no fence"):
        user_message(prompts, Inputs("a", "b", "s", "t", context=(Turn("a", "b"),) * 3))


def test_texts_do_not_belong_into_the_system_message(write: Write) -> None:
    with pytest.raises(InputError, match=r"system.md:2: 'source' stands in the system message"):
        read_prompt_set(write(system="a\n<x>{{ source }}</x>"))


# --- Examples and schemas -------------------------------------------------------------------------------


def test_examples_as_messages_and_as_inputs(write: Write) -> None:
    example = {"source_lang": "German", "target_lang": "English", "source": "ja", "translation": "`yes`"}
    shots = [
        {"role": "user", "content": "Rate `yes` </source>"},
        {"role": "assistant", "content": "90", "json": {"score": 90}},
        {"role": "user", "inputs": example | {"reference": "aye"}},
        {"role": "assistant", "content": "95", "json": {"score": 95}},
    ]
    user = USER + "{{ 'JSON' if structured else 'number' }}"
    prompts = read_prompt_set(write(user, few_shot=shots, schema=SCHEMA, system="S"))
    said = [
        [message["content"] for message in prompts.steps[0].messages(ITEM, structured).messages]
        for structured in (False, True)
    ]
    filled = "<source>ja</source>\n<translation>`yes`</translation>\n"
    assert said[0][:5] == ["S", "Rate `yes` </source>", "90", filled + "number", "95"]
    assert said[1][:5] == ["S", "Rate `yes` </source>", '{"score": 90}', filled + "JSON", '{"score": 95}']
    assert prompts.structured and prompts.steps[0].schema == SCHEMA
    assert prompts.steps[0].form_for(True) == Form("number", json=True)


def test_a_set_that_only_knows_json(write: Write) -> None:
    shots = [{"role": "user", "content": "x"}, {"role": "assistant", "content": '{"score": 1}'}]
    prompts = read_prompt_set(write(manifest=with_keys("format = 'json'"), few_shot=shots, schema=SCHEMA))
    for structured in (False, True):
        assert prompts.steps[0].form_for(structured).json
        messages = prompts.steps[0].messages(ITEM, structured).messages
        assert messages[1]["content"] == '{"score": 1}'


USER_TURN = {"role": "user", "content": "x"}
ANSWER = {"role": "assistant", "content": "1"}


@pytest.mark.parametrize(
    ("shots", "problem"),
    [
        ({}, "must be a list of messages"),
        ([USER_TURN], "must be a list of messages"),
        ([ANSWER, USER_TURN], "element 1: .*must be a message with the role 'user'"),
        ([{"role": "system", "content": "x"}, ANSWER], "element 1: .*role 'user'"),
        ([USER_TURN, USER_TURN], "element 2: .*role 'assistant'"),
        ([USER_TURN, {"role": "assistant"}], "element 2: .*'content' is missing"),
        ([USER_TURN, {"role": "assistant", "content": 1}], "element 2: .*'content' is not a string"),
        ([USER_TURN | {"name": "x"}, ANSWER], "element 1: .*has name, which it cannot have"),
        ([USER_TURN | {"inputs": {}}, ANSWER], "element 1: .*both"),
        ([{"role": "user", "inputs": {"source": "x"}}, ANSWER], "element 1: .*'source_lang' is missing"),
        ([{"role": "user", "inputs": {"translation": "x"}}, ANSWER], "element 1: .*'source' is missing"),
        ("[", "broken JSON"),
    ],
)
def test_examples_that_are_refused(write: Write, shots: Any, problem: str) -> None:
    with pytest.raises(InputError, match=f"few_shot.json(:1)?: {problem}"):
        read_prompt_set(write(few_shot=shots))


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "array"}, 'must be a JSON schema with "type": "object"'),
        (SCHEMA | {"additionalProperties": True}, 'needs "required" and "additionalProperties": false'),
        (SCHEMA | {"required": []}, "must require all of its properties"),
        (SCHEMA | {"properties": []}, "is an object without properties"),
        (SCHEMA | {"properties": {"score": {"type": "float"}}}, "score has the type 'float'"),
        (SCHEMA | {"properties": {"score": {"type": "array"}}}, "score is an array without items"),
        (SCHEMA | {"properties": {"score": 3}}, "score must be an object"),
        (
            SCHEMA | {"properties": {"score": {"type": "array", "items": {"type": "object"}}}},
            r"score\[\] is an object without properties",
        ),
        (SCHEMA, "the prompt asks for the same answer with and without it"),
    ],
)
def test_schemas_that_are_refused(write: Write, schema: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_prompt_set(write(schema=schema))


def test_examples_must_show_the_json_that_the_schema_asks_for(write: Write) -> None:
    user = USER + "{{ 'JSON' if structured else 'number' }}"
    with pytest.raises(InputError, match=r"element 2: .*has no 'json'"):
        read_prompt_set(write(user, few_shot=[USER_TURN, ANSWER], schema=SCHEMA))


# --- Files ----------------------------------------------------------------------------------------------


def test_files_that_are_not_there(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such directory"):
        read_prompt_set(tmp_path / "nowhere")
    folder = write()
    with pytest.raises(InputError, match="a prompt set is a directory, not a file"):
        read_prompt_set(folder / "user.md")
    (folder / "user.md").unlink()
    with pytest.raises(InputError, match=r"user\.md: no such file"):
        read_prompt_set(folder)
    (folder / "manifest.toml").unlink()
    with pytest.raises(InputError, match=r"manifest\.toml: no such file"):
        read_prompt_set(folder)


def test_links_do_not_lead_out(write: Write, tmp_path: Path) -> None:
    folder = write()
    (tmp_path / "secret").write_text("a secret <a>{{ translation }}</a>", encoding="utf-8")
    (folder / "system.md").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match=r"system\.md: leads out of the directory"):
        read_prompt_set(folder)
    (folder / "system.md").unlink()
    (folder / "words").write_text("Rate it.", encoding="utf-8")
    (folder / "system.md").symlink_to("words")
    assert read_prompt_set(folder).steps[0].messages(ITEM).messages[0]["content"] == "Rate it."


def test_large_and_odd_files(write: Write) -> None:
    folder = write(system="x" * (1 << 20) + "x")
    with pytest.raises(InputError, match=r"system\.md: is larger than one megabyte"):
        read_prompt_set(folder)
    (folder / "system.md").unlink()
    os.mkfifo(folder / "system.md")
    with pytest.raises(InputError, match=r"system\.md: is not a file"):
        read_prompt_set(folder)
    (folder / "system.md").unlink()
    (folder / "system.md").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"system\.md:1: not UTF-8"):
        read_prompt_set(folder)


def test_line_ends_of_other_systems(write: Write) -> None:
    folder = write()
    here = read_prompt_set(folder)
    for name in ("user.md", "manifest.toml"):
        raw = (folder / name).read_bytes()
        (folder / name).write_bytes(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"))
    there = read_prompt_set(folder)
    assert (there.asking, there.digest) == (here.asking, here.digest)
    assert there.steps[0].messages(ITEM) == here.steps[0].messages(ITEM)


# --- What is asked, and what shapes a score --------------------------------------------------------------

SWITCH = (
    USER + "{% if 'reference' in needs %}<reference>{{ reference }}</reference>{% endif %}"
    "{{ 'JSON' if structured else 'number' }}"
)
BASE: dict[str, Any] = {
    "user": SWITCH,
    "schema": SCHEMA,
    "few_shot": [USER_TURN, ANSWER | {"json": {"score": 1}}],
    "system": "S",
}
ASKING: dict[str, dict[str, Any]] = {
    "user template": {"user": SWITCH + "."},
    "system message": {"system": "T"},
    "question of an example": {"few_shot": [USER_TURN | {"content": "y"}, ANSWER | {"json": {"score": 1}}]},
    "JSON of an example": {"few_shot": [USER_TURN, ANSWER | {"json": {"score": 2}}]},
    "answer of an example": {"few_shot": [USER_TURN, {**ANSWER, "content": "2", "json": {"score": 1}}]},
    "schema": {"schema": SCHEMA | {"title": "x"}},
    "order of a schema": {"schema": dict(reversed(SCHEMA.items()))},
}
COUNTING: dict[str, dict[str, Any]] = {
    "scale": {"manifest": with_keys("[score]\nmaximum = 10")},
    "scale, by little": {"manifest": with_keys("[score]\nmaximum = 100.0000001")},
    "direction": {"manifest": with_keys("[score]\nhigher_is_better = false")},
    "name of a language": {"manifest": with_keys("[languages]\nde = 'Deutsch'")},
    "needs": {"manifest": with_keys("needs = ['source', 'reference']")},
    "form": {"manifest": with_keys("output = 'mqm'")},
    "classes": {"manifest": with_keys("output = 'mqm'\nclasses = ['a', 'b', 'a,b']")},
    "severities": {"manifest": with_keys("output = 'mqm'\nseverities = ['major']")},
    "cap": {"manifest": with_keys("output = 'mqm'\n[score]\ncap = 1000000")},
    "cap, by little": {"manifest": with_keys("output = 'mqm'\n[score]\ncap = 1000001")},
    "weight": {"manifest": with_keys("output = 'mqm'\n[score]\nweights = { minor = 0.5 }")},
    "weight, by little": {"manifest": with_keys("output = 'mqm'\n[score]\nweights = { minor = 0.5000001 }")},
    "most errors": {"manifest": with_keys("output = 'mqm'\n[score]\nmost_errors = 5")},
    "critical classes": {
        "manifest": with_keys(
            "output = 'mqm'\nclasses = ['a', 'b', 'a,b']\n[score]\ncritical_classes = ['a', 'b']"
        )
    },
    "a class with a comma": {
        "manifest": with_keys(
            "output = 'mqm'\nclasses = ['a', 'b', 'a,b']\n[score]\ncritical_classes = ['a,b']"
        )
    },
    "labels": {"manifest": with_keys("output = 'mqm'\n[labels]\nx = ['a']")},
}
NEITHER: dict[str, dict[str, Any]] = {
    "what is said of the set": {
        "manifest": with_keys("description = 'other'\nversion = '2'\ncitation = 'c'\nmax_tokens = 50")
    },
    "order of a manifest": {"manifest": "\n".join(reversed(MANIFEST.splitlines()))},
    "defaults": {"manifest": with_keys("[score]\nminimum = 0\nmaximum = 100\nhigher_is_better = true")},
}


def test_digests_change_with_what_they_cover(write: Write) -> None:
    read = {
        name: read_prompt_set(write(**BASE | changed))
        for name, changed in {"base": {}, **ASKING, **COUNTING, **NEITHER}.items()
    }
    base = read["base"]
    assert len({base.asking, *(read[name].asking for name in ASKING)}) == 1 + len(ASKING)
    assert {read[name].asking for name in (*COUNTING, *NEITHER)} == {base.asking}
    different = {base.digest, *(read[name].digest for name in (*ASKING, *COUNTING))}
    assert len(different) == 1 + len(ASKING) + len(COUNTING)
    assert {read[name].digest for name in NEITHER} == {base.digest}


def test_the_order_of_tables_is_of_no_account(write: Write) -> None:
    manifest = "output = 'mqm'\nclasses = ['a', 'b']\n"
    one, other = (
        read_prompt_set(
            write(
                manifest=with_keys(
                    f"{manifest}[labels]\n{labels}\n[score]\nweights = {{ {weights} }}\n"
                    f"critical_classes = [{classes}]\n[languages]\n{names}"
                )
            )
        )
        for labels, weights, classes, names in (
            ("x = ['a']\ny = ['b']", "minor = 2, major = 3", "'a', 'b'", "de = 'D'\nfr = 'F'"),
            ("y = ['b']\nx = ['a']", "major = 3, minor = 2", "'b', 'a'", "fr = 'F'\nde = 'D'"),
        )
    )
    assert one.asking == other.asking and one.digest == other.digest
    assert one.scoring is not None and other.scoring is not None
    assert one.scoring.parts() == other.scoring.parts()


@pytest.mark.parametrize(
    ("scoring", "weights", "cap"),
    [
        (Scoring(), "critical=25,major=5,minor=1", "none"),
        (Scoring({"minor": 1}, 25), "minor=1", "25"),
        (Scoring({"minor": 1.0000001}, 25.5), "minor=1.0000001", "25.5"),
        (Scoring({"minor": 0.1}, 1_000_001.0), "minor=0.1", "1000001"),
        (Scoring({"minor": 0.1 + 0.2}, 1e300), "minor=0.30000000000000004", "1e+300"),
    ],
)
def test_numbers_stand_exactly_in_a_signature(scoring: Scoring, weights: str, cap: str) -> None:
    assert scoring.parts() == {"weights": weights, "cap": cap}


def call_of(prompts: PromptSet) -> Call:
    options = JudgeOptions(LlmOptions(model="m"), Path("calls.sqlite"))
    questions = Questions(prompts, options, prompts.language("en"), {"max_tokens": 9}, False, "")
    return questions.call(Request("text", "소스", source_lang="ko"), 0)[0]


def test_calls_are_asked_again_where_something_else_is_asked(write: Write) -> None:
    """A new weight or scale asks for nothing, a new word or name of a language does."""
    base = call_of(read_prompt_set(write(**BASE)))
    assert base.prompts == read_prompt_set(write(**BASE)).asking
    for name in ("scale", "direction", "weight", "cap", "labels", "name of a language"):
        assert call_of(read_prompt_set(write(**BASE | COUNTING[name]))).key == base.key, name
    for name in ("user template", "system message", "answer of an example"):
        assert call_of(read_prompt_set(write(**BASE | ASKING[name]))).key != base.key, name
    named = with_keys("[languages]\nen = 'Englisch'")
    user = SWITCH + " in {{ target_lang }}"
    keys = {
        call_of(read_prompt_set(write(**BASE | {"user": user, "manifest": manifest}))).key
        for manifest in (MANIFEST, named)
    }
    assert len(keys) == 2


def test_a_set_travels_between_processes(write: Write) -> None:
    for manifest, user in (
        (MANIFEST, USER),
        (with_keys("template = 'dollar'"), "<a>${currentSource}\n${translation}</a>"),
    ):
        prompts = read_prompt_set(write(user, manifest))
        copy = pickle.loads(pickle.dumps(prompts))
        assert (copy.asking, copy.digest) == (prompts.asking, prompts.digest)
        assert copy.steps[0].messages(ITEM) == prompts.steps[0].messages(ITEM)
