"""Checkpoints that must not be taken for one another, and what real ones have that the tiny ones have not."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from huggingface_hub import snapshot_download

from challenge_sets import InputError
from metrics import METRICS, Metric, ModelOptions, Request, Settings
from metrics.neural.readers import PromptReader, SegmentReader
from metrics.neural.texts import Texts
from metrics.scoring import answer_in_turn

ROOT = Path(__file__).parents[3]
REQUEST = Request("The cat sat on the mat.", "Die Katze saß auf der Matte.", "A cat was on the mat.")
COMET, METRICX = "Unbabel/wmt22-comet-da", "google/metricx-24-hybrid-large-v2p6"


def metric_for(name: str) -> Metric:
    options = ModelOptions(device="cpu")
    return METRICS[name].configured(options)(Settings("en", model=options))


def raw(metric: Metric, request: Request = REQUEST) -> float:
    (answer,) = metric.score([request])
    assert answer.raw is not None, answer
    return answer.raw


def copy(repo: str, out: Path) -> Path:
    return Path(shutil.copytree(snapshot_download(repo, local_files_only=True), out))


@pytest.fixture(autouse=True)
def _in_the_hub(hub: Path) -> None:
    pass


def test_settings_are_part_of_what_a_local_checkpoint_is(tmp_path: Path) -> None:
    plain = metric_for(f"comet:{copy(COMET, tmp_path / 'one' / 'same')}")
    folder = copy(COMET, tmp_path / "two" / "same")
    settings = yaml.safe_load((folder / "hparams.yaml").read_text())
    other = "softmax" if settings["layer_transformation"] != "softmax" else "sparsemax_patch"
    (folder / "hparams.yaml").write_text(yaml.safe_dump(settings | {"layer_transformation": other}))
    changed = metric_for(f"comet:{folder}")
    assert plain.signature().split("|")[1:] != changed.signature().split("|")[1:]
    assert plain.model_key != changed.model_key


@pytest.mark.parametrize("first", [0, 1])
def test_one_prompt_is_never_taken_for_the_other(first: int, tmp_path: Path) -> None:
    """The same weights under the names of two generations, in either order."""
    names = [
        f"metricx-ref:{copy(METRICX, tmp_path / generation / 'model')}"
        for generation in ("metricx-23", "other")
    ]
    metrics = {name: metric_for(name) for name in (names[first], names[1 - first])}
    dog = Request("A dog 😀 minorerr criterr", "Ein Hund", "A dog")
    scores = [raw(metrics[name], dog) for name in names]
    alone = [raw(metric_for(name), dog) for name in ("metricx23-xl", "metricx24-large-ref")]
    assert scores == pytest.approx(alone, abs=1e-4) and abs(scores[0] - scores[1]) > 1e-2


@pytest.mark.parametrize(
    "checkpoint", ["metricx-ref:google/metricx-23-qe-xl-v2p0", "metricx-qe:google/metricx-23-xl-v2p0"]
)
def test_a_checkpoint_of_2023_takes_what_it_was_trained_with(checkpoint: str) -> None:
    with pytest.raises(InputError, match="was trained for other inputs"):
        METRICS[checkpoint]


LARGE = """
import json, socket, sys
from pathlib import Path
def refuse(*args, **kwargs):
    raise AssertionError("a connection was attempted")
socket.socket.connect = socket.getaddrinfo = refuse
from metrics import METRICS, ModelOptions, Request, Settings
options = ModelOptions(device="cpu")
for name in ("comet22", "xcomet-xl-qe"):
    metric = METRICS[name].configured(options)(Settings("en", model=options))
    (answer,) = metric.score([Request("A cat.", "Eine Katze.", "A cat.")])
    assert answer.raw is not None, answer
print("scored")
"""


def test_a_large_vocabulary_in_the_cache_needs_no_network(hub: Path, tmp_path: Path) -> None:
    """transformers asks the hub about tokenizers of 100,000 pieces and more, unless they are in a folder."""
    home = tmp_path / "home"
    for repo in (COMET, "Unbabel/XCOMET-XL", "xlm-roberta-large", "facebook/xlm-roberta-xl"):
        place = f"hub/models--{repo.replace('/', '--')}"
        shutil.copytree(hub / place, home / place)
    for tokenizer in home.rglob("tokenizer.json"):
        described = json.loads(tokenizer.read_text(encoding="utf-8"))
        # Behind the last piece: all ids stay as they are. No text has these characters.
        described["model"]["vocab"] += [[f"\U000f0000{number}", -50.0] for number in range(100_000)]
        tokenizer.write_text(json.dumps(described), encoding="utf-8")
    environment = {**os.environ, "HF_HOME": str(home), "PYTHONPATH": str(ROOT)}
    environment.pop("HF_HUB_OFFLINE")
    done = subprocess.run(
        [sys.executable, "-c", LARGE],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "scored\n", done.stderr
    assert done.stderr == ""


def test_code_beside_a_tokenizer_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copy(METRICX, tmp_path / "strange")
    for file in Path(snapshot_download("google/mt5-large", local_files_only=True)).iterdir():
        shutil.copy(file, folder)
    (folder / "trap.py").write_text(f"open({str(tmp_path / 'was here')!r}, 'w')\n")
    described = {"auto_map": {"AutoTokenizer": ["trap.Slow", "trap.Fast"]}, "tokenizer_class": "Trap"}
    (folder / "tokenizer_config.json").write_text(json.dumps(described))
    monkeypatch.setattr("builtins.input", lambda *said: "y")
    with pytest.raises(InputError):
        raw(metric_for(f"metricx:{folder}"))
    assert not (tmp_path / "was here").exists()


def changed(out: Path, repo: str, change: Callable[[dict[str, Any]], None], **saving: Any) -> str:
    weights = copy(repo, out) / "checkpoints" / "model.ckpt"
    saved = torch.load(weights, weights_only=True)
    change(saved["state_dict"])
    torch.save(saved, weights, **saving)
    return f"comet:{out}"


def test_what_only_training_needs_may_be_missing(tmp_path: Path) -> None:
    name = changed(
        tmp_path / "trained", "Unbabel/XCOMET-XL", lambda state: state.pop("wordloss.weight", None)
    )
    assert raw(metric_for(name)) == raw(metric_for("xcomet-xl"))


def test_a_checkpoint_of_the_old_format(tmp_path: Path) -> None:
    name = changed(tmp_path / "old", COMET, lambda state: None, _use_new_zipfile_serialization=False)
    assert raw(metric_for(name)) == raw(metric_for("comet22"))


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_a_model_that_does_not_fit_ends_the_run(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []

    def full(*args: object, **options: object) -> None:
        loads.append(args)
        raise error

    metric = metric_for("comet22")
    metric.close()
    monkeypatch.setattr("comet.models.RegressionMetric.load_from_checkpoint", full)
    with pytest.raises(InputError, match="does not fit into the memory of cpu"):
        list(answer_in_turn(metric, [REQUEST] * 3))
    assert len(loads) == 1


def reader(name: str) -> Any:
    return metric_for(name).reader  # type: ignore[attr-defined]


def test_the_view_of_a_prompt_is_all_of_it() -> None:
    prompts = reader("metricx24-large-qe")
    assert isinstance(prompts, PromptReader)
    texts = Texts(("a cat",), ("eine Katze",))
    assert prompts.view(texts) == prompts.sequence(texts)


def test_a_mark_is_text_also_where_its_characters_are_unknown() -> None:
    segments = reader("comet22")
    assert isinstance(segments, SegmentReader)
    text = "a </s> b"
    described = json.loads(segments._literal.to_str())
    described["model"]["vocab"] = [
        ["\U000f0000<", score] if piece == "<" else [piece, score]
        for piece, score in described["model"]["vocab"]
    ]
    poor = type(segments._literal).from_str(json.dumps(described))
    poor.encode_special_tokens = True
    assert segments.end not in poor.encode(text, add_special_tokens=False).ids
    assert segments.end not in segments.ids(text)


def test_nothing_here_reached_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("a connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    metric = metric_for("cometkiwi22")
    metric.close()
    assert raw(metric)
