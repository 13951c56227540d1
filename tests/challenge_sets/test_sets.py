import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from challenge_sets import ChallengeSet, Generator, InputError, Pair, SetWriter, Translation
from challenge_sets.edits import diff


def records() -> tuple[Translation, Pair]:
    translation = Translation("i/1", "s", "zwei", "two apples", "de", "en", "d")
    pair = Pair(
        "p1", "i/1", "s", "number", "error", "two apples", "six apples",
        diff("two apples", "six apples"), "major", Generator("number", "1", "rule", 0),
    )  # fmt: skip
    return translation, pair


def write(out: Path) -> Path:
    with SetWriter(out, {"name": "small", "licence": None}) as writer:
        for record in records():
            writer.add(record)
    return out


def test_a_set_is_read_as_it_was_written(tmp_path: Path) -> None:
    held = ChallengeSet(write(tmp_path / "set"))
    assert (*held.translations(), *held.pairs()) == records()
    assert held.manifest["counts"] == {"translations": 1, "pairs": 1, "pairs_per_category": {"number": 1}}


def test_the_same_records_give_the_same_bytes_in_any_folder(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one"), write(tmp_path / "two" / "deep")
    for name in ("set.json", "pairs.jsonl", "translations.jsonl"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


@pytest.mark.parametrize("name", ["pairs.jsonl", "translations.jsonl"])
def test_an_altered_set_is_refused(tmp_path: Path, name: str) -> None:
    out = write(tmp_path)
    (out / name).write_text(
        (out / name).read_text(encoding="utf-8").replace("apples", "pears"), encoding="utf-8"
    )
    with pytest.raises(InputError, match="does not match its hash") as caught:
        ChallengeSet(out)
    assert name in str(caught.value)


def test_a_failed_build_leaves_the_earlier_set_and_no_other_file(tmp_path: Path) -> None:
    out = write(tmp_path / "set")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(RuntimeError), SetWriter(out, {}) as writer:
        writer.add(records()[0])
        raise RuntimeError
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    with pytest.raises(RuntimeError), SetWriter(tmp_path / "new", {}):
        raise RuntimeError
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ("{", "broken JSON"),
        ("[]", "not the manifest of a set"),
        ('{"format": "mt-blindspots/set", "format_version": 99}', "format version 99"),
        ('{"format": "mt-blindspots/set", "format_version": 1, "files": {"../x": {}}}', "'files' must name"),
    ],
)
def test_a_manifest_that_is_none(tmp_path: Path, manifest: str, problem: str) -> None:
    (tmp_path / "set.json").write_text(manifest)
    with pytest.raises(InputError, match=problem):
        ChallengeSet(tmp_path)


def test_a_broken_record_names_file_and_line(tmp_path: Path) -> None:
    with SetWriter(tmp_path, {}) as writer:
        writer.add(records()[0])
        writer.add_line('{"pair": "p"}', "number")
    with pytest.raises(InputError, match=r"pairs\.jsonl:1: not a valid record"):
        list(ChallengeSet(tmp_path).pairs())


def test_inspect(tmp_path: Path, command: Callable[..., CompletedProcess[str]]) -> None:
    out = write(tmp_path / "set")
    held = json.loads(command("challenge_sets", "inspect", out, "--json").stdout)
    assert held["language pairs"] == {"de-en": 1}
    assert held["pairs by category"] == {"number": 1}
    assert "number" in command("challenge_sets", "inspect", out).stdout
    assert "not a set directory" in command("challenge_sets", "inspect", tmp_path, code=2).stderr


def test_a_set_built_again_meanwhile_is_noticed(tmp_path: Path) -> None:
    held = ChallengeSet(write(tmp_path))
    held.check_unchanged()
    fingerprint = held.fingerprint
    with SetWriter(tmp_path, {"name": "other"}) as writer:
        writer.add(records()[0])
    assert held.fingerprint == fingerprint
    with pytest.raises(InputError, match="changed while it was being read"):
        held.check_unchanged()


def test_files_of_another_build_do_not_pass_for_this_one(tmp_path: Path) -> None:
    """The manifest speaks of what its own writer wrote, not of what lies there."""
    early = (write(tmp_path) / "set.json").read_bytes()
    with SetWriter(tmp_path, {"name": "third"}) as third:
        third.add(records()[0])
    ChallengeSet(tmp_path)
    (tmp_path / "set.json").write_bytes(early)
    with pytest.raises(InputError, match="does not match its hash"):
        ChallengeSet(tmp_path)


def test_a_manifest_that_cannot_be_written_leaves_the_earlier_set(tmp_path: Path) -> None:
    out = write(tmp_path)
    with pytest.raises(TypeError), SetWriter(out, {"name": object()}) as writer:
        writer.add(records()[0])
    assert (*ChallengeSet(out).translations(), *ChallengeSet(out).pairs()) == records()
    assert len(list(out.iterdir())) == 3
