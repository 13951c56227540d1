"""Finding checkpoints by path."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from challenge_sets import InputError
from metrics.neural.checkpoints import Located, is_path, locate

COMET = ["checkpoints/model.ckpt", "hparams.yaml"]
MT5 = ["model*.safetensors|pytorch_model*.bin", "config.json"]
WHOLE = {"checkpoints/model.ckpt": "weights", "hparams.yaml": "class: x"}


def checkpoint(folder: Path, files: dict[str, str] = WHOLE) -> Path:
    """A folder with these files, by default those of a COMET checkpoint."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Org/model", False),
        ("model", False),
        ("", False),
        ("x" * 5000, False),
        ("./model", True),
        ("../model", True),
        ("/model", True),
        ("~/model", True),
        (r"C:\model", True),
        ("a/b/c", True),
        ("model.ckpt", True),
        ("here", True),
        ("here/there", True),
    ],
)
def test_what_is_a_path(name: str, path: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here/there").mkdir(parents=True)
    assert is_path(name) is path


def test_a_folder_or_its_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = checkpoint(tmp_path / "mine")
    weights = folder / "checkpoints/model.ckpt"
    # What `sha256sum checkpoints/model.ckpt hparams.yaml | sha256sum` says.
    parts = [folder / name for name in ("checkpoints/model.ckpt", "hparams.yaml")]
    lines = [
        f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.relative_to(folder)}\n" for each in parts
    ]
    revision = f"sha256={hashlib.sha256(''.join(lines).encode()).hexdigest()[:16]}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (str(folder), str(weights), "mine", "./mine", "~/mine", "mine/checkpoints/model.ckpt"):
        assert locate(name, files=COMET, required=2) == Located(name, folder, revision, (weights,))
    weights.write_text("WEIGHTS")
    other = locate("mine", files=COMET).revision
    (folder / "hparams.yaml").write_text("other settings")
    assert len({revision, other, locate("mine", files=COMET).revision}) == 3


def test_a_link_is_not_followed_to_its_folder(tmp_path: Path) -> None:
    blob = tmp_path / "blob"
    blob.write_text("weights")
    (tmp_path / "mine/checkpoints").mkdir(parents=True)
    link = tmp_path / "mine/checkpoints/model.ckpt"
    link.symlink_to(blob)
    assert locate(str(link), files=COMET).folder == tmp_path / "mine"
    blob.unlink()
    with pytest.raises(InputError, match=r"it has no checkpoints/model\.ckpt"):
        locate(str(tmp_path / "mine"), files=COMET)


def test_one_of_several_weight_files(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path, {f"checkpoints/{name}": name[0] for name in ("a.txt", "b.ckpt", "c.ckpt")})
    files = ["checkpoints/model.ckpt|checkpoints/*.ckpt"]
    b, c = folder / "checkpoints/b.ckpt", folder / "checkpoints/c.ckpt"
    assert locate(str(b), files=files).weights == (b,)
    both = locate(str(folder), files=files)
    assert both.weights == (b, c)
    # What `sha256sum checkpoints/*.ckpt | sha256sum` says.
    lines = [
        f"{hashlib.sha256(each).hexdigest()}  checkpoints/{each.decode()}.ckpt\n" for each in (b"b", b"c")
    ]
    assert both.revision == f"sha256={hashlib.sha256(''.join(lines).encode()).hexdigest()[:16]}"


def test_shards_belong_together(tmp_path: Path) -> None:
    names = [f"model-0000{number}-of-00003.safetensors" for number in (1, 2, 3)]
    folder = checkpoint(tmp_path, {name: name for name in names})
    shards = tuple(folder / name for name in names)
    assert locate(str(folder), files=MT5).weights == shards
    assert locate(str(shards[1]), files=MT5) == Located(
        str(shards[1]), folder, locate(str(folder), files=MT5).revision, shards
    )
    shards[2].unlink()
    for name in (folder, shards[0]):
        with pytest.raises(InputError, match=f"it has no {names[2]}"):
            locate(str(name), files=MT5)


PATH_FAILURES: dict[str, tuple[str, Callable[..., Located], str, str]] = {
    "none": ("./mine/gone", locate, "no such file or folder", "hub id ORG/NAME"),
    "none, by form": ("gone.ckpt", locate, "no such file or folder", "give the folder"),
    "no user": ("~nobody-of-this-name/x", locate, "no such file or folder", "give the folder"),
    "empty folder": ("empty", locate, "it has no checkpoints/model.ckpt", "give the folder in which"),
    "inside": ("mine/checkpoints", locate, "it has no checkpoints/model.ckpt", "give the folder in which"),
    "no hparams": ("bare", partial(locate, required=2), "it has no hparams.yaml", "give the folder in which"),
    "by its file": (
        "bare/checkpoints/model.ckpt",
        partial(locate, required=2),
        "it has no hparams.yaml",
        "give the folder in which",
    ),
    "another file": ("mine/hparams.yaml", locate, "it has no checkpoints/model.ckpt", "file itself"),
    "revision": (
        "mine",
        partial(locate, revision="v1"),
        "a path has no revision 'v1'",
        "leave the revision out",
    ),
    "alternatives": (
        "empty",
        lambda name, files: locate(name, files=MT5),
        "it has no model*.safetensors or pytorch_model*.bin",
        "give the folder",
    ),
}


@pytest.mark.parametrize("failure", PATH_FAILURES)
def test_a_path_that_is_no_checkpoint(failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, find, problem, hint = PATH_FAILURES[failure]
    monkeypatch.chdir(tmp_path)
    checkpoint(tmp_path / "mine")
    checkpoint(tmp_path / "bare", {"checkpoints/model.ckpt": "weights"})
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError) as caught:
        find(name, files=COMET)
    first, rest = str(caught.value).split("\n", 1)
    assert problem in first
    assert name in first
    assert hint in rest
