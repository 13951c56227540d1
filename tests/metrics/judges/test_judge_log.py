"""``metrics judge-log``: what judges said, by what became of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import scripted_actions as actions
import scripted_faults as faults
from scripted_actions import Action, ReceivedCall, ok
from scripted_scripts import always
from scripted_server import ScriptedServer

from challenge_sets import ChallengeSet
from metrics.llm.log import CALLS

NONE = "Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error"
TALK = "It reads\twell.\nBut my key is sk-proj-abc123def456ghi789."
TALK += "\x1b[31m red \x9b2J \u202eback\u2069 \u2028 end"
KEY = "sk-live-0123456789abcdef"


def odd_judge(call: ReceivedCall) -> Action:
    if "MQM" not in call.body["messages"][0]["content"]:
        return ok("85")
    number = int(call.last_user.split("Text ")[1].split()[0])
    return (ok(NONE), ok(TALK), actions.out_of_length("Critical:\nno-err"), actions.refusal("I won't."))[
        number
    ]


@pytest.fixture
def judged_folder(
    many: Callable[..., ChallengeSet], judged: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Two judges on eight cells: ``mqm`` understands two of them, ``da`` all."""
    monkeypatch.setenv("A_KEY", KEY)
    with ScriptedServer(odd_judge, expected_key=KEY) as server:
        judged(
            server, many(tmp_path / "set", 8), ["mqm", "da"], tmp_path / "out", api_key_env="A_KEY"
        )  # fmt: skip
    return tmp_path / "out"


def test_all_that_was_not_understood(judged_folder: Path, metrics_command: Callable) -> None:
    code, out, err = metrics_command("judge-log", "--scores", judged_folder)
    assert (code, err) == (0, "")
    counts, *answers = out.rstrip().split("\n\n")
    assert counts.split("\n") == ["da: 8 ok", "mqm: 2 failed", "mqm: 2 ok", "mqm: 4 unparsed"]
    assert len(answers) == 6
    (talk, *_) = [answer for answer in answers if "It reads" in answer]
    assert talk.split("\n")[0].startswith("mqm, unparsed: ")
    assert talk.split("\n")[1] in ("  judged: Text 1 is good.", "  judged: Text 1 is bad.")
    assert talk.split("\n")[2:] == [
        "  | It reads\twell.",
        r"  | But my key is [key]\u001b[31m red \u009b2J \u202eback\u2069 \u2028 end",
    ]
    assert "mqm, failed: the model refused" in out
    assert "  | I won't." in out
    assert "mqm, unparsed: cut off at the end of the answer budget" in out
    assert "  | no-err" in out


@pytest.mark.parametrize(
    ("more", "statuses"),
    [
        ((), {"unparsed": 4, "failed": 2}),
        (("--status", "unparsed"), {"unparsed": 4}),
        (("--status", "failed"), {"failed": 2}),
        (("--status", "truncated"), {}),
        (("--status", "ok"), {"ok": 10}),
        (("--status", "ok", "--judge", "da"), {"ok": 8}),
        (("--status", "ok", "--judge", "mqm"), {"ok": 2}),
        (("--judge", "da"), {}),
        (("--limit", "3"), {"unparsed": 3, "failed": 0}),
        (("--limit", "0"), {}),
    ],
    ids=str,
)
def test_what_is_shown(
    more: tuple[str, ...], statuses: dict[str, int], judged_folder: Path, metrics_command: Callable
) -> None:
    code, out, err = metrics_command("judge-log", "--scores", judged_folder, "--json", *more)
    assert (code, err) == (0, "")
    # Lines as a terminal or a shell counts them.
    entries = [json.loads(line) for line in out.split("\n") if line]
    assert len(entries) == sum(statuses.values())
    if "--limit" not in more:
        found = [entry["status"] for entry in entries]
        assert {status: found.count(status) for status in found} == statuses
    code, out, _ = metrics_command("judge-log", "--scores", judged_folder, *more)
    counts = out.split("\n\n")[0].rstrip().split("\n")
    judges = {more[more.index("--judge") + 1]} if "--judge" in more else {"mqm", "da"}
    assert {line.split(":")[0] for line in counts} == judges


def test_json_holds_what_was_said(judged_folder: Path, metrics_command: Callable) -> None:
    _, out, _ = metrics_command("judge-log", "--scores", judged_folder, "--json", "--status", "unparsed")
    entries = [json.loads(line) for line in out.split("\n") if line]
    talk = next(entry for entry in entries if "It reads" in entry["text"])
    assert talk["text"] == TALK.replace("sk-proj-abc123def456ghi789.", "[key]")
    assert (talk["judge"], talk["model"], talk["finish"]) == ("mqm", "m-1", "stop")
    assert talk["purpose"].startswith("mqm|lang:en|model:m-1|")
    assert talk["subject"] in ("Text 1 is good.", "Text 1 is bad.")
    assert not {"\x1b", "\x9b", "\u202e", "\u2028"} & set(out)


def test_no_key_is_kept_or_shown(judged_folder: Path, metrics_command: Callable) -> None:
    for more in (("--status", "ok"), ("--json",), ()):
        _, out, err = metrics_command("judge-log", "--scores", judged_folder, "--limit", "99", *more)
        assert KEY not in out + err
    for path in judged_folder.iterdir():
        assert KEY.encode() not in path.read_bytes(), path


def test_it_changes_nothing(judged_folder: Path, metrics_command: Callable) -> None:
    before = {path.name: path.read_bytes() for path in judged_folder.iterdir()}
    metrics_command("judge-log", "--scores", judged_folder)
    assert {path.name: path.read_bytes() for path in judged_folder.iterdir()} == before


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (("--status", "bad"), "there is no status 'bad'"),
        (("--judge", "gemba"), "no judge 'gemba' was asked here"),
        (("--limit", "-1"), "Invalid value"),
    ],
)
def test_wrong_use(
    more: tuple[str, ...], problem: str, judged_folder: Path, metrics_command: Callable
) -> None:
    code, out, err = metrics_command("judge-log", "--scores", judged_folder, *more)
    assert (code, out) == (2, "")
    assert problem in err


def test_where_nothing_was_asked(tmp_path: Path, metrics_command: Callable) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        code, _, err = metrics_command("judge-log", "--scores", folder)
        assert code == 2
        assert "no judge was asked here" in err
        assert CALLS in err
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_is_none(tmp_path: Path, metrics_command: Callable) -> None:
    (tmp_path / CALLS).write_text("not a database, and long enough to be looked at as one " * 20)
    code, _, err = metrics_command("judge-log", "--scores", tmp_path)
    assert code == 2
    assert "not a log of calls" in err


def test_a_later_answer_replaces_a_failure(
    many: Callable[..., ChallengeSet], judged: Callable, metrics_command: Callable, tmp_path: Path
) -> None:
    challenge_set = many(tmp_path / "set", 4)
    with ScriptedServer(always(actions.filtered())) as server:
        judged(server, challenge_set, "da", tmp_path / "out")
        server._script = always(ok("85"))
        judged(server, challenge_set, "da", tmp_path / "out")
        server._script = always(faults.server_error())
    _, out, _ = metrics_command("judge-log", "--scores", tmp_path / "out")
    assert out == "da: 4 ok\n"
