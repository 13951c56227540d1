"""Finding checkpoints by hub id: a tiny server plays the hub for one process, two others cannot reach one."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote

import pytest

from challenge_sets import InputError, MissingExtraError
from metrics.neural.checkpoints import locate

ROOT = Path(__file__).parents[3]
COMET = ["checkpoints/model.ckpt", "hparams.yaml"]
MT5 = ["model*.safetensors|pytorch_model*.bin", "config.json"]
KNOWN = ["Org/wmt22-demo-da", "Org/XDEMO-XL", "Org/XDEMO-XXL", "Org/gated"]
GATED = ["Org/gated", "Org/gated-quietly"]
TOKEN = "hf_not_for_anybody"
PASSWORD = "swordfish"
SHA, OLD = "a1b2c3d" + "0" * 33, "e4f5a6b" + "1" * 33
needs_hub = pytest.mark.skipif(
    find_spec("huggingface_hub") is None, reason="the hub library is not installed"
)

# Runs cases in a fresh process: the hub library reads its environment when it is imported. Every request is
# a connection of its own, because the server below speaks HTTP/1.0.
DRIVER = """
import json, socket, sys, traceback
from metrics.neural.checkpoints import locate
assert "huggingface_hub" not in sys.modules
from huggingface_hub import constants
connections = 0
connect = socket.socket.connect
def counted(self, address):
    global connections
    connections += 1
    return connect(self, address)
socket.socket.connect = counted
outcomes = []
for case in json.load(sys.stdin):
    before = {name: getattr(constants, name) for name in case["constants"]}
    for name, value in case["constants"].items():
        setattr(constants, name, value)
    connections = 0
    try:
        found = locate(**case["arguments"])
        outcome = {"folder": str(found.folder), "revision": found.revision, "name": found.name,
                   "weights": [path.relative_to(found.folder).as_posix() for path in found.weights]}
    except Exception as error:
        outcome = {"error": type(error).__name__, "text": str(error), "trace": traceback.format_exc()}
    outcomes.append(outcome | {"connections": connections})
    for name, value in before.items():
        setattr(constants, name, value)
print(json.dumps(outcomes))
"""

Case = dict[str, Any]


def case(
    name: str, files: list[str] = COMET, constants: dict[str, Any] | None = None, **arguments: Any
) -> Case:
    asked = {"name": name, "files": files, "known": KNOWN, "gated": GATED, **arguments}
    return {"arguments": asked, "constants": constants or {}}


def run(cases: dict[str, Case], env: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Outcome of every case, all in one process with this environment."""
    inherited = {
        name: value for name, value in os.environ.items() if "HF_" not in name and "OFFLINE" not in name
    }
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps(list(cases.values())),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**inherited, "NO_PROXY": "127.0.0.1", **env},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert TOKEN not in done.stdout + done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    assert "%|" not in done.stderr, "a progress bar where stderr is no terminal"
    return dict(zip(cases, json.loads(done.stdout), strict=True))


def first_line(outcome: dict[str, Any]) -> str:
    assert outcome.get("error") == "InputError", outcome
    return str(outcome["text"]).splitlines()[0]


WHOLE = {"checkpoints/model.ckpt": "weights", "hparams.yaml": "class: x"}


def checkpoint(folder: Path, files: dict[str, str] = WHOLE) -> Path:
    """A folder with these files, by default those of a COMET checkpoint."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def snapshot(home: Path, name: str, sha: str, *refs: str, files: dict[str, str] = WHOLE) -> Path:
    """A checkpoint in a hub cache."""
    folder = home / "hub" / f"models--{name.replace('/', '--')}"
    for ref in refs:
        (folder / "refs" / ref).parent.mkdir(parents=True, exist_ok=True)
        (folder / "refs" / ref).write_text(sha)
    return checkpoint(folder / "snapshots" / sha, files)


# --- the hub's part ------------------------------------------------------------------------------------

FILES = {
    "Org/good": ["checkpoints/model.ckpt", "hparams.yaml", "README.md", "other/big.bin"],
    "Org/partial": ["checkpoints/model.ckpt", "hparams.yaml"],
    "Org/odd": ["README.md", "model.safetensors"],
    "Org/both": ["config.json", "model.safetensors", "pytorch_model.bin", "onnx/model.safetensors"],
    "Org/sharded": ["config.json", "pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"],
    "Org/torn": ["config.json", "pytorch_model-00001-of-00002.bin"],
    "Org/gated": ["checkpoints/model.ckpt", "hparams.yaml"],
    "Org/closed": ["checkpoints/model.ckpt"],
}
ERRORS: dict[str, tuple[int, dict[str, str]]] = {
    "Org/gated-too": (401, {"X-Error-Code": "GatedRepo"}),
    "Org/gated-quietly": (401, {"X-Error-Code": "RepoNotFound"}),
    "Org/hidden": (401, {"X-Error-Code": "RepoNotFound"}),
    "Org/forbidden": (403, {}),
    "Org/withdrawn": (403, {"X-Error-Message": "Access to this resource is disabled."}),
    "Org/expired": (401, {"X-Error-Message": "Invalid credentials in Authorization header"}),
    "Org/down": (503, {}),
}
MISSING = (404, {"X-Error-Code": "RepoNotFound"})


def content(name: str, file: str) -> bytes:
    return f"{name} {file}".encode()


class Hub(BaseHTTPRequestHandler):
    released = threading.Event()
    tokens: ClassVar[set[str | None]] = set()

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        self.tokens.add(self.headers["Authorization"])
        path = unquote(self.path).strip("/")
        listing, parts = path.startswith("api/models/"), path.removeprefix("api/models/").split("/")
        name, rest = "/".join(parts[:2]), parts[2:]
        if name == "Org/slow":
            self.released.wait(20)
        elif name == "Org/portal":
            self.give(200, {}, b"<html>Please log in to this hotel</html>")
        elif name not in FILES:
            self.give(*ERRORS.get(name, MISSING))
        elif rest[1:2] == ["v9"]:
            self.give(404, {"X-Error-Code": "RevisionNotFound"})
        elif listing:
            siblings = [{"rfilename": file} for file in FILES[name]]
            self.give(200, {}, json.dumps({"id": name, "sha": SHA, "siblings": siblings}).encode())
        elif name in ("Org/gated", "Org/closed"):
            self.give(403, {"X-Error-Code": "GatedRepo"} if name == "Org/gated" else {})
        else:
            body = content(name, "/".join(rest[2:]))
            self.give(200, {"ETag": f'"{hashlib.sha1(body).hexdigest()}"', "X-Repo-Commit": SHA}, body)

    def give(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for header, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(header, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    Hub.released.set()
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def online(tmp_path_factory: pytest.TempPathFactory, address: str) -> dict[str, dict[str, Any]]:
    home = tmp_path_factory.mktemp("online")
    snapshot(home, "Org/partial", OLD, "main", files={"hparams.yaml": "x", "README.md": "y"})
    (home / "a file").touch()
    snapshot(home, "Org/kept", OLD, "main", "v1")  # the server knows of no such model
    cases = {
        "good": case("Org/good"),
        "good again": case("Org/good"),
        "good by its commit": case("Org/good", revision=SHA),
        "good by a short commit": case("Org/good", revision=SHA[:7]),
        "good by a tag": case("Org/good", revision="release/1.0"),
        "the tag again": case("Org/good", revision="release/1.0"),
        "partial": case("Org/partial"),
        "kept": case("Org/kept"),
        "both": case("Org/both", MT5, required=2),
        "sharded": case("Org/sharded", MT5),
        "torn": case("Org/torn", MT5),
        "odd": case("Org/odd"),
        "gated": case("Org/gated"),
        "gated too": case("Org/gated-too"),
        "gated quietly": case("Org/gated-quietly"),
        "closed": case("Org/closed"),
        "hidden": case("Org/hidden"),
        "mistyped": case("org/wmt22-demo_da"),
        "no such": case("Org/something-else"),
        "revision": case("Org/good", revision="v9"),
        "forbidden": case("Org/forbidden"),
        "withdrawn": case("Org/withdrawn"),
        "expired": case("Org/expired"),
        "down": case("Org/down"),
        "portal": case("Org/portal"),
        "slow": case("Org/slow", constants={"HF_HUB_ETAG_TIMEOUT": 0.2}),
        "not wanted": case("Org/both", download=False),
        "full disk": case("Org/sharded", MT5, {"HF_HUB_CACHE": str(home / "a file")}),
    }
    return run(cases, {"HF_HOME": str(home), "HF_ENDPOINT": address, "HF_TOKEN": TOKEN})


@needs_hub
def test_a_download_holds_what_was_asked_for_and_is_not_repeated(online: dict[str, dict[str, Any]]) -> None:
    found = online["good"]
    folder = Path(found["folder"])
    assert (found["name"], found["revision"], folder.name) == ("Org/good", SHA, SHA)
    assert found["weights"] == ["checkpoints/model.ckpt"]
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")}
    assert files == {file: content("Org/good", file) for file in COMET}
    assert found["connections"] == 1 + 1 + 2 * 2  # the listing, here and in the library; two files
    for same in ("good again", "good by its commit", "good by a short commit"):
        assert online[same] == found | {"connections": 0}
    assert online["good by a tag"] == found | {"connections": 2}
    assert online["the tag again"] == found | {"connections": 0}
    assert f"Bearer {TOKEN}" in Hub.tokens


@needs_hub
def test_only_an_incomplete_snapshot_is_completed(online: dict[str, dict[str, Any]]) -> None:
    assert online["partial"]["revision"] == SHA
    assert online["kept"]["revision"] == OLD
    assert online["kept"]["connections"] == 0


@needs_hub
def test_alternatives_and_shards(online: dict[str, dict[str, Any]]) -> None:
    assert online["both"]["weights"] == ["model.safetensors"]
    folder = Path(online["both"]["folder"])
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.safetensors"]
    assert online["sharded"]["weights"] == FILES["Org/sharded"][1:]


ONLINE_FAILURES = {
    "odd": ("'Org/odd' is no checkpoint of this kind: it has no checkpoints/model.ckpt", ["right metric"]),
    "torn": ("no checkpoint of this kind: it has no pytorch_model-00002-of-00002.bin", ["check the id"]),
    "gated": (
        "'Org/gated' is gated",
        ["accept the licence at {address}/Org/gated", "hf auth login", "HF_TOKEN"],
    ),
    "gated too": ("'Org/gated-too' is gated", ["{address}/Org/gated-too\n"]),
    "gated quietly": ("'Org/gated-quietly' is gated", ["accept the licence at {address}/Org/gated-quietly"]),
    "closed": ("access to 'Org/closed' is refused (HTTP 403)", ["hf auth login", "firewall"]),
    "hidden": (
        "there is no model 'Org/hidden' at {address}, or it is private",
        ["spelling", "hf auth login"],
    ),
    "mistyped": ("there is no model 'org/wmt22-demo_da'", ["did you mean Org/wmt22-demo-da?", "private"]),
    "no such": ("there is no model 'Org/something-else'", ["check the spelling"]),
    "revision": ("'Org/good' has no revision 'v9'", ["{address}/Org/good/tree/main"]),
    "forbidden": ("access to 'Org/forbidden' is refused (HTTP 403)", ["hf auth login", "firewall"]),
    "withdrawn": ("there is no model 'Org/withdrawn'", []),
    "expired": ("access to 'Org/expired' is refused (HTTP 401)", ["the token must be valid"]),
    "down": ("Org/down is not cached, and {address} cannot be reached (HTTP 503)", ["hf download Org/down"]),
    "portal": ("Org/portal is not cached, and {address} cannot be reached (what answers there", []),
    "slow": ("Org/slow is not cached, and {address} cannot be reached (no answer in time)", []),
    "not wanted": (
        "Org/both is not cached completely: no checkpoints/model.ckpt",
        ["no checkpoint of this kind"],
    ),
    "full disk": ("a file: 'Org/sharded' cannot be written to the cache: ", ["HF_HOME"]),
}


@needs_hub
@pytest.mark.parametrize("name", ONLINE_FAILURES)
def test_what_the_hub_refuses(name: str, online: dict[str, dict[str, Any]], address: str) -> None:
    problem, hints = ONLINE_FAILURES[name]
    assert problem.format(address=address) in first_line(online[name])
    for hint in hints:
        assert hint.format(address=address) in online[name]["text"].partition("\n")[2] + "\n"
    assert ("did you mean" in online[name]["text"]) == any("did you mean" in hint for hint in hints)
    # Neither the library's own words nor its traceback.
    assert "Request ID" not in online[name]["trace"]
    assert "huggingface_hub" not in online[name]["trace"]


# --- no hub --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("offline")
    snapshot(home, "Org/good", SHA, "main", "refs/pr/1")
    snapshot(home, "Org/good", OLD, "v1")
    snapshot(home, "Org/torn", SHA, "main", files={"hparams.yaml": "x"})
    snapshot(home, "Org/empty-ref", "", "main")
    snapshot(home, "Org/two", "abcdef0" + "0" * 33, "main")
    snapshot(home, "Org/two", "abcdef0" + "1" * 33)
    (home / "secret").write_text(SHA)
    return home


@pytest.fixture(scope="module")
def offline_outcomes(cache: Path) -> dict[str, dict[str, Any]]:
    cases = {
        "main": case("Org/good"),
        "branch": case("Org/good", revision="v1"),
        "request": case("Org/good", revision="refs/pr/1"),
        "commit": case("Org/good", revision=OLD),
        "short": case("Org/good", revision=OLD[:8].upper()),
        "absent": case("Org/absent-model"),
        "gated": case("Org/gated"),
        "close": case("wmt22-demo-da"),
        "two close": case("xdemo-xl"),
        "organisation": case("some-other-group/xdemo-xl"),
        "torn": case("Org/torn", required=2),
        "revision": case("Org/good", revision="it's"),
        "ambiguous": case("Org/two", revision="abcdef0"),
        "folder of refs": case("Org/good", revision="refs/pr"),
        "empty ref": case("Org/empty-ref"),
        "impossible": case("Org/wmt22 demo da"),
        "nothing": case(""),
        "dots": case("Org..x/good"),
        "escape": case("Org/good", revision="../../../secret"),
        "empty revision": case("Org/good", revision=""),
    }
    return run(cases, {"HF_HOME": str(cache), "HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9"})


@needs_hub
def test_the_cache_answers_without_a_network(
    offline_outcomes: dict[str, dict[str, Any]], cache: Path
) -> None:
    assert {outcome["connections"] for outcome in offline_outcomes.values()} == {0}
    wanted = {"main": SHA, "branch": OLD, "request": SHA, "commit": OLD, "short": OLD}
    assert {name: offline_outcomes[name].get("revision") for name in wanted} == wanted
    folder = cache / "hub/models--Org--good/snapshots" / OLD
    assert offline_outcomes["branch"]["folder"] == str(folder)


OFFLINE_FAILURES = {
    "absent": (
        "Org/absent-model is not cached, and HF_HUB_OFFLINE is set",
        ["{cache}/hub/models--Org--absent-model ", "HF_HOME", "network: hf download Org/absent-model"],
    ),
    "gated": ("Org/gated is not cached, and HF_HUB_OFFLINE is set", ["its licence must be accepted first"]),
    "close": (
        "wmt22-demo-da is not cached, and",
        ["did you mean Org/wmt22-demo-da?", "models--wmt22-demo-da "],
    ),
    "two close": ("xdemo-xl is not cached, and", ["did you mean Org/XDEMO-XL or Org/XDEMO-XXL?"]),
    "organisation": ("some-other-group/xdemo-xl is not cached", ["did you mean Org/XDEMO-XL or"]),
    "torn": ("Org/torn is not cached completely: no checkpoints/model.ckpt, and", ["hf download Org/torn"]),
    "revision": ("Org/good at revision 'it's' is not cached", ["""--revision 'it'"'"'s'"""]),
    "ambiguous": ("Org/two at revision 'abcdef0' is not cached", []),
    "folder of refs": ("Org/good at revision 'refs/pr' is not cached", []),
    "empty ref": ("Org/empty-ref is not cached", []),
    "impossible": ("'Org/wmt22 demo da' is neither a hub id nor a path", ["did you mean Org/wmt22-demo-da?"]),
    "nothing": ("'' is neither a hub id nor a path", ["ORG/NAME"]),
    "dots": ("'Org..x/good' is neither a hub id nor a path", ["ORG/NAME"]),
    "escape": ("'../../../secret' cannot be a revision of Org/good", ["a branch, a tag or a commit"]),
    "empty revision": ("'' cannot be a revision of Org/good", []),
}


@needs_hub
@pytest.mark.parametrize("name", OFFLINE_FAILURES)
def test_what_cannot_be_had_offline(
    name: str, offline_outcomes: dict[str, dict[str, Any]], cache: Path
) -> None:
    problem, hints = OFFLINE_FAILURES[name]
    assert first_line(offline_outcomes[name]).startswith(problem)
    for hint in hints:
        assert hint.format(cache=cache) in offline_outcomes[name]["text"].partition("\n")[2]
    assert ("did you mean" in offline_outcomes[name]["text"]) == any("did you mean" in hint for hint in hints)


@needs_hub
def test_a_hub_out_of_reach(tmp_path: Path) -> None:
    snapshot(tmp_path, "Org/kept", OLD, "main")
    endpoint = f"http://me:{PASSWORD}@127.0.0.1:9"
    env = {"HF_HUB_CACHE": str(tmp_path / "hub"), "HF_ENDPOINT": endpoint, "HF_TOKEN": TOKEN}
    cases = {"kept": case("Org/kept"), "new": case("Org/new"), "asked": case("Org/kept", revision="v2")}
    outcomes = run(cases, env)
    assert (outcomes["kept"]["revision"], outcomes["kept"]["connections"]) == (OLD, 0)
    reason = "and http://127.0.0.1:9 cannot be reached (no connection)"
    assert first_line(outcomes["new"]) == f"Org/new is not cached, {reason}"
    assert first_line(outcomes["asked"]) == f"Org/kept at revision 'v2' is not cached, {reason}"
    assert f"looked for in {tmp_path}/hub/models--Org--new" in outcomes["new"]["text"]


@needs_hub
def test_the_other_name_of_the_offline_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with pytest.raises(InputError, match="and TRANSFORMERS_OFFLINE is set"):
        locate("Org/absent", files=COMET)


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r'pip install "mt-blindspots\[neural\]"'):
        locate("Org/good", files=COMET)
    assert locate(str(checkpoint(tmp_path)), files=COMET)  # a path needs no hub
