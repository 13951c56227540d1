"""Files that are no checkpoint, or not all of one; what loading must not do to the process or the network."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from huggingface_hub import snapshot_download
from safetensors.torch import load_file, save_file

from challenge_sets import InputError
from metrics import METRICS, Answer, Request, Settings
from metrics.requests import ModelOptions

ROOT = Path(__file__).parents[3]
REQUEST = Request("The cat sat.", "Die Katze saß.", "A cat sat.")
REGRESSION = "Unbabel/wmt22-comet-da"
METRICX = "google/metricx-24-hybrid-large-v2p6"


@pytest.fixture(autouse=True)
def _in_the_hub(hub: Path) -> Iterator[None]:
    # Models of this size are slowed down by several threads.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def answer(name: str) -> Answer:
    model = ModelOptions(device="cpu")
    (only,) = METRICS[name].configured(model)(Settings("en", model=model)).score([REQUEST])
    return only


def snapshot(repo: str) -> Path:
    return Path(snapshot_download(repo, local_files_only=True))


def comet_copy(out: Path, repo: str = REGRESSION) -> Path:
    """A checkpoint of its own in ``out``; without links into the hub."""
    shutil.copytree(snapshot(repo), out, dirs_exist_ok=True)
    return out


def changed(out: Path, change: Callable[[dict[str, Any]], None], repo: str = REGRESSION) -> str:
    """The name of a copy whose saved state was changed."""
    weights = comet_copy(out, repo) / "checkpoints" / "model.ckpt"
    saved = torch.load(weights, weights_only=True)
    change(saved)
    torch.save(saved, weights)
    return f"comet:{out}"


# --- weights -------------------------------------------------------------------------------------------


def test_an_unchanged_copy_scores_as_its_original(tmp_path: Path) -> None:
    name = changed(tmp_path / "same", lambda saved: None)
    assert answer(name).raw == answer("comet22").raw
    assert answer(f"{name}/checkpoints/model.ckpt").raw == answer("comet22").raw


@pytest.mark.parametrize(
    ("repo", "weight"),
    [
        (REGRESSION, "estimator.ff.0.weight"),
        (REGRESSION, "layerwise_attention.gamma"),
        (REGRESSION, "encoder.model.encoder.layer.1.output.dense.bias"),
        ("Unbabel/wmt22-cometkiwi-da", "estimator.ff.6.bias"),
        ("Unbabel/XCOMET-XL", "hidden2tag.weight"),
    ],
)
def test_a_missing_weight_is_named(repo: str, weight: str, tmp_path: Path) -> None:
    name = changed(tmp_path / "lacking", lambda saved: saved["state_dict"].pop(weight), repo)
    with pytest.raises(InputError, match="would be random") as caught:
        answer(name)
    assert f"lacks 1 weights, such as {weight}" in str(caught.value)
    assert str(tmp_path / "lacking") in str(caught.value) and caught.value.hint


def test_many_missing_weights(tmp_path: Path) -> None:
    def drop(saved: dict[str, Any]) -> None:
        saved["state_dict"] = {key: value for key, value in saved["state_dict"].items() if "ff" not in key}

    with pytest.raises(InputError, match=r"lacks \d+ weights, such as estimator\.ff\.0\.bias"):
        answer(changed(tmp_path / "lacking", drop))


def test_a_weight_of_another_shape(tmp_path: Path) -> None:
    def cut(saved: dict[str, Any]) -> None:
        saved["state_dict"]["estimator.ff.0.weight"] = saved["state_dict"]["estimator.ff.0.weight"][:, :5]

    with pytest.raises(InputError, match="cannot be loaded"):
        answer(changed(tmp_path / "cut", cut))


def test_weights_that_are_not_used_are_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def add(saved: dict[str, Any]) -> None:
        saved["state_dict"]["estimator.extra.weight"] = torch.zeros(3)
        saved["state_dict"]["another.weight"] = torch.zeros(3)

    capsys.readouterr()
    name = changed(tmp_path / "more", add)
    assert answer(name).raw == answer("comet22").raw
    said = capsys.readouterr().err
    assert "2 weights of the checkpoint are not used, such as another.weight" in said
    assert len(said.splitlines()) == 1


def test_positions_that_older_checkpoints_hold_are_nothing_to_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def add(saved: dict[str, Any]) -> None:
        saved["state_dict"]["encoder.model.embeddings.position_ids"] = torch.arange(514)[None]

    capsys.readouterr()
    assert answer(changed(tmp_path / "older", add)).raw == answer("comet22").raw
    assert capsys.readouterr().err == ""


# --- what is no checkpoint -----------------------------------------------------------------------------


class Stranger:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def saved_bytes(value: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


NO_CHECKPOINTS: dict[str, Callable[[bytes], bytes]] = {
    "text": lambda whole: b"This is a text.\n",
    "empty": lambda whole: b"",
    "pointer": lambda whole: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 2320000000\n",
    "half": lambda whole: whole[: len(whole) // 2],
    "list": lambda whole: saved_bytes([1, 2, 3]),
    "other dictionary": lambda whole: saved_bytes({"weights": torch.zeros(3)}),
    "no settings": lambda whole: saved_bytes({"state_dict": {"a": torch.zeros(3)}}),
}


@pytest.mark.parametrize("kind", NO_CHECKPOINTS)
def test_a_file_that_is_no_checkpoint(kind: str, tmp_path: Path) -> None:
    folder = comet_copy(tmp_path / "odd")
    weights = folder / "checkpoints" / "model.ckpt"
    weights.write_bytes(NO_CHECKPOINTS[kind](weights.read_bytes()))
    with pytest.raises(InputError, match=r"cannot be loaded|lacks \d+ weights") as caught:
        answer(f"comet:{folder}")
    assert str(folder) in str(caught.value) and caught.value.hint


@pytest.mark.parametrize("packed", ["pickle", "torch", "torch, old", "in the settings", "in the weights"])
def test_code_in_a_checkpoint_is_not_run(packed: str, tmp_path: Path) -> None:
    folder = comet_copy(tmp_path / "strange")
    weights = folder / "checkpoints" / "model.ckpt"
    stranger = Stranger(tmp_path / "was here")
    saved = torch.load(weights, weights_only=True)
    if packed == "pickle":
        weights.write_bytes(pickle.dumps(stranger))
    elif packed == "torch, old":
        torch.save(stranger, weights, _use_new_zipfile_serialization=False)
    else:
        where = {"in the settings": "hyper_parameters", "in the weights": "state_dict"}.get(packed)
        if where:
            saved[where]["stranger"] = stranger
        torch.save(saved if where else stranger, weights)
    with pytest.raises(InputError, match="cannot be loaded"):
        answer(f"comet:{folder}")
    assert not stranger.path.exists()


# --- hparams.yaml --------------------------------------------------------------------------------------


def settings_without(name: str) -> str:
    settings = yaml.safe_load((snapshot(REGRESSION) / "hparams.yaml").read_text())
    del settings[name]
    return yaml.safe_dump(settings)


def settings_with(**fields: Any) -> str:
    settings = yaml.safe_load((snapshot(REGRESSION) / "hparams.yaml").read_text())
    return yaml.safe_dump(settings | fields)


HPARAMS: dict[str, tuple[Callable[[], str | bytes], str]] = {
    "broken": (lambda: "class_identifier: [regression_metric\n", "not the settings of a COMET checkpoint"),
    "text": (lambda: "Not found\n", "no class_identifier"),
    "list": (lambda: "- class_identifier\n", "no class_identifier"),
    "empty": (lambda: "", "no class_identifier"),
    "no class": (lambda: settings_without("class_identifier"), "no class_identifier"),
    "unknown class": (
        lambda: settings_with(class_identifier="ranking_metric"),
        "class_identifier is 'ranking_metric', of which this release knows nothing",
    ),
    "unknown encoder": (lambda: settings_with(encoder_model="BERT"), "encoder_model is 'BERT'"),
    "no encoder": (lambda: settings_without("encoder_model"), "encoder_model is 'None'"),
    "uncached encoder": (
        lambda: settings_with(pretrained_model="acme/encoder"),
        "acme/encoder is not cached",
    ),
    "no name of the encoder": (lambda: settings_without("pretrained_model"), "pretrained_model"),
    "not UTF-8": (lambda: b"class_identifier: regression_metric # \xff\xfe\n", "UTF-8"),
}


@pytest.mark.parametrize("kind", HPARAMS)
def test_settings_that_are_none(kind: str, tmp_path: Path) -> None:
    make, said = HPARAMS[kind]
    folder = comet_copy(tmp_path / "odd")
    text = make()
    (folder / "hparams.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=said):
        answer(f"comet:{folder}")


def test_missing_settings(tmp_path: Path) -> None:
    folder = comet_copy(tmp_path / "bare")
    (folder / "hparams.yaml").unlink()
    with pytest.raises(InputError, match=r"it has no hparams\.yaml"):
        answer(f"comet:{folder}")


def test_code_in_the_settings_is_not_run(tmp_path: Path) -> None:
    folder = comet_copy(tmp_path / "strange")
    trap = tmp_path / "was here"
    (folder / "hparams.yaml").write_text(
        settings_with() + f"trap: !!python/object/apply:os.mkdir ['{trap}']\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="not the settings of a COMET checkpoint"):
        answer(f"comet:{folder}")
    assert not trap.exists()


@pytest.mark.parametrize("kind", ["unified_metric", "xcomet_metric", "referenceless_regression_metric"])
def test_weights_of_another_class(kind: str, tmp_path: Path) -> None:
    folder = comet_copy(tmp_path / "other")
    (folder / "hparams.yaml").write_text(settings_with(class_identifier=kind), encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot be loaded|lacks \d+ weights"):
        answer(f"comet:{folder}")


def test_two_checkpoints_in_one_folder(tmp_path: Path) -> None:
    folder = comet_copy(tmp_path / "two")
    weights = folder / "checkpoints" / "model.ckpt"
    for name in ("epoch=1.ckpt", "epoch=2.ckpt"):
        shutil.copy(weights, weights.with_name(name))
    # model.ckpt is the one that is meant where there is one.
    assert answer(f"comet:{folder}").raw == answer("comet22").raw
    assert answer(f"comet:{weights.with_name('epoch=2.ckpt')}").raw == answer("comet22").raw


def test_two_checkpoints_and_none_that_is_meant(tmp_path: Path) -> None:
    folder = comet_copy(tmp_path / "two")
    weights = folder / "checkpoints" / "model.ckpt"
    shutil.copy(weights, weights.with_name("epoch=1.ckpt"))
    weights.rename(weights.with_name("epoch=2.ckpt"))
    with pytest.raises(InputError, match="2 checkpoints here"):
        answer(f"comet:{folder}")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("comet-ref:Unbabel/wmt20-comet-qe-da", "the checkpoint takes qe, not ref"),
        ("comet-ref:Unbabel/wmt22-cometkiwi-da", "the checkpoint takes qe, not ref"),
        ("comet-ref:Unbabel/XCOMET-XL", "the checkpoint takes both or qe, not ref"),
        ("comet-qe:Unbabel/wmt22-comet-da", "the checkpoint takes both or ref, not qe"),
    ],
)
def test_inputs_that_a_checkpoint_does_not_take(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        answer(name)


# --- MetricX -------------------------------------------------------------------------------------------


def metricx_copy(out: Path) -> Path:
    out.mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(snapshot(METRICX) / name, out / name)
    # The tokenizer is not beside the weights, as in the real ones: the size of the model names it.
    return out


def test_a_copy_of_a_metricx_scores_as_its_original(tmp_path: Path) -> None:
    folder = metricx_copy(tmp_path / "same")
    assert answer(f"metricx:{folder}").raw == answer("metricx24-large").raw
    shutil.copy(snapshot("google/mt5-large") / "tokenizer.json", folder)
    shutil.copy(snapshot("google/mt5-large") / "tokenizer_config.json", folder)
    assert answer(f"metricx:{folder}/model.safetensors").raw == answer("metricx24-large").raw


@pytest.mark.parametrize("weight", ["lm_head.weight", "decoder.block.1.layer.2.DenseReluDense.wo.weight"])
@pytest.mark.parametrize("how", ["missing", "another shape"])
def test_a_metricx_with_weights_that_do_not_fit(how: str, weight: str, tmp_path: Path) -> None:
    folder = metricx_copy(tmp_path / "odd")
    weights = load_file(folder / "model.safetensors")
    if how == "missing":
        del weights[weight]
    else:
        weights[weight] = weights[weight][:, :8].contiguous()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lacks 1 weights, such as|cannot be loaded") as caught:
        answer(f"metricx:{folder}")
    assert how != "missing" or weight in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.safetensors", b"This is a text.\n"),
        ("model.safetensors", b""),
        ("config.json", b"{"),
        ("config.json", b"[]"),
    ],
)
def test_files_of_a_metricx_that_are_none(name: str, content: bytes, tmp_path: Path) -> None:
    folder = metricx_copy(tmp_path / "odd")
    (folder / name).write_bytes(content)
    with pytest.raises(InputError):
        answer(f"metricx:{folder}")


def test_another_model_is_no_metricx(tmp_path: Path) -> None:
    from transformers import MT5Config, MT5ForConditionalGeneration

    config = MT5Config(vocab_size=300, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2)
    MT5ForConditionalGeneration(config).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="no MetricX"):
        answer(f"metricx:{tmp_path}")


@pytest.mark.parametrize(
    "name", [f"metricx:{REGRESSION}", f"comet:{METRICX}", "comet:google/metricx-23-xl-v2p0"]
)
def test_a_published_checkpoint_of_the_other_family(name: str) -> None:
    with pytest.raises(InputError):
        answer(name)


# --- what loading must not do --------------------------------------------------------------------------

LIGHT = """
import json, sys
import metrics.cli
from metrics import METRICS
cards = [METRICS[name].model_card() for name in METRICS]
METRICS["comet:some/checkpoint"], METRICS["slide:xcomet-xl-qe"]
metrics.cli.list_metrics(as_json=True)
heavy = ("torch", "comet", "transformers", "huggingface_hub", "yaml", "tokenizers", "numpy", "pandas")
print(json.dumps([name for name in heavy if name in sys.modules]), file=sys.stderr)
"""


def test_listing_the_metrics_loads_no_library() -> None:
    done = run_script(LIGHT)
    assert json.loads(done.stderr) == []
    listed = {each["name"]: each for each in json.loads(done.stdout)}
    assert listed["comet22"]["model"]["checkpoint"] == REGRESSION


QUIET = """
import json, logging, socket, sys
tried = []
def refuse(*args, **kwargs):
    tried.append(repr(args))
    raise OSError("no network in this test")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = socket.create_connection = refuse
root = logging.getLogger()
before = (root.level, list(root.handlers))
from metrics import METRICS, Request, Settings
from metrics.requests import ModelOptions
model = ModelOptions(device="cpu")
scores = {}
for name in sys.argv[1:]:
    metric = METRICS[name].configured(model)(Settings("en", model=model))
    (answer,) = metric.score([Request("The cat sat.", "Die Katze saß.", "A cat sat.")])
    scores[name] = answer.raw
    metric.close()
after = (root.level, list(root.handlers))
print(json.dumps({"scores": scores, "tried": tried, "same": before == after}))
"""


def run_script(script: str, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    done = subprocess.run(
        [sys.executable, "-c", script, *args],
        cwd=ROOT,
        env=kept | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_scoring_from_the_cache_is_quiet_and_tries_no_network() -> None:
    # In a process of its own, and without HF_HUB_OFFLINE: the libraries are imported by the metrics alone,
    # and nothing but the metrics keeps them from the network.
    names = ["comet22", "comet:Unbabel/wmt20-comet-qe-da", "xcomet-xl", "metricx24-large"]
    done = run_script(QUIET, *names, OMP_NUM_THREADS="1")
    found = json.loads(done.stdout)
    assert found["tried"] == []
    assert found["same"] is True
    assert done.stderr == ""
    for name in names:
        assert found["scores"][name] == pytest.approx(answer(name).raw, abs=1e-5)
