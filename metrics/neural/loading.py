"""Loads models and tokenizers from files that were found, and keeps one model in memory at a time."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from challenge_sets import InputError
from challenge_sets.console import notice
from metrics.neural.batching import out_of_memory, release_memory
from metrics.neural.devices import dtype

_NOISY = ("pytorch_lightning", "lightning", "lightning.pytorch", "comet", "transformers")
_KNOWN_EXTRA_WEIGHTS = ("position_ids",)
"""Weights that older releases of transformers saved and newer ones compute."""
_TRAINING_ALONE = (
    "wordloss.weight",
    "layerwise_attention.dropout_mask",
    "layerwise_attention.dropout_fill",
)
"""What a model keeps beside its weights and never reads when it scores."""

_loaded: dict[tuple[Any, ...], Any] = {}


def keep_one(key: tuple[Any, ...], load: Callable[[], Any]) -> Any:
    """The model of this key, loaded unless it is the one in memory; any other is dropped first."""
    if key not in _loaded:
        release()
        _loaded[key] = load()
    return _loaded[key]


def release() -> None:
    """Drop the model in memory, if there is one."""
    if _loaded:
        _loaded.clear()
        release_memory()


@contextmanager
def quietly() -> Iterator[None]:
    """Keep the libraries from talking, and from setting up the logging of the whole process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in _NOISY}
    # With a handler in place, basicConfig() does nothing.
    root.addHandler(logging.NullHandler())
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Its first import sets its own level.
            from transformers.utils import logging as transformers_logging

            verbosity = transformers_logging.get_verbosity()
            transformers_logging.set_verbosity_error()
            try:
                yield
            finally:
                transformers_logging.set_verbosity(verbosity)
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        for name, before in levels.items():
            logging.getLogger(name).setLevel(before)


def load_comet(
    checkpoint: Path, encoder: Path, settings: Mapping[str, Any], name: str, precision: str, device: str
) -> Any:
    """A COMET model by the package's classes, every weight accounted for; ``InputError`` if it is none.

    ``settings`` are those of its ``hparams.yaml``, ``encoder`` is the folder of the encoder's tokenizer and
    configuration. In half precision the encoder is converted and what it gives is turned back: the heads
    stay in float32.
    """
    with quietly(), _as_checkpoint(name, device):
        import comet

        # As the package's loader does for checkpoints that say so: they were trained with a softmax.
        patched = settings.get("layer_transformation") == "sparsemax_patch"
        model = comet.models.str2model[settings["class_identifier"]].load_from_checkpoint(
            checkpoint,
            map_location="cpu",
            # Not strict: real checkpoints hold weights of older releases. What is missing would be random.
            strict=False,
            weights_only=True,
            load_pretrained_weights=False,
            local_files_only=True,
            # The folder, not the hub id: for a large vocabulary transformers asks the hub about an id,
            # whatever it was told, and fails where there is no network.
            pretrained_model=str(encoder),
            **({"layer_transformation": "softmax"} if patched else {}),
        )
        _check_weights(set(model.state_dict()), _saved_names(checkpoint), name)
        model.eval()
        if precision != "fp32":
            model.encoder.to(dtype(precision))
            model.encoder.register_forward_hook(_in_single_precision)
        return model.to(device)


def _saved_names(checkpoint: Path) -> set[str]:
    import torch

    try:
        saved = torch.load(checkpoint, map_location="cpu", weights_only=True, mmap=True)
    except RuntimeError:
        # An old format, which cannot be mapped.
        saved = torch.load(checkpoint, map_location="cpu", weights_only=True)
    return set(saved["state_dict"])


def load_mt5(folder: Path, name: str, precision: str, device: str) -> Any:
    """An mT5 from its folder, every weight accounted for; ``InputError`` if it is none."""
    with quietly(), _as_checkpoint(name, device):
        from transformers import MT5ForConditionalGeneration
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()
        model, info = MT5ForConditionalGeneration.from_pretrained(
            folder, local_files_only=True, dtype=dtype(precision), output_loading_info=True
        )
        if info["missing_keys"] or info["mismatched_keys"]:
            raise _not_whole(name, info["missing_keys"] or [each[0] for each in info["mismatched_keys"]])
        return model.eval().to(device)


def load_tokenizer(folder: Path, name: str, *, encoder: bool) -> Any:
    """The fast tokenizer of an XLM-R ``encoder``, as COMET loads it, or of an mT5."""
    with quietly(), _as_checkpoint(name, "cpu"):
        from transformers import AutoTokenizer, XLMRobertaTokenizerFast

        return (XLMRobertaTokenizerFast if encoder else AutoTokenizer).from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )


def _check_weights(needed: set[str], saved: set[str], name: str) -> None:
    if missing := needed - saved - set(_TRAINING_ALONE):
        raise _not_whole(name, missing)
    extra = {key for key in saved - needed if not key.endswith(_KNOWN_EXTRA_WEIGHTS)}
    if extra:
        notice(f"{name}: {len(extra)} weights of the checkpoint are not used, such as {min(extra)}")


def _not_whole(name: str, missing: Any) -> InputError:
    return InputError(
        f"{name}: the checkpoint lacks {len(missing)} weights, such as {min(missing)}; they would be random",
        hint="fetch the checkpoint again, or take one that is whole",
    )


@contextmanager
def _as_checkpoint(name: str, device: str) -> Iterator[None]:
    """Whatever a library raises over the files of a checkpoint, in one message."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if out_of_memory(error):
            raise InputError(
                f"{name}: the model does not fit into the memory of {device}",
                hint="--precision bf16 takes half as much; or a smaller model, or another --device",
            ) from None
        said = str(error).strip().splitlines()
        raise InputError(
            f"{name}: the checkpoint cannot be loaded ({type(error).__name__}: {said[0] if said else ''})",
            hint="is it a checkpoint of this kind, and was it downloaded whole?",
        ) from error


def _in_single_precision(module: Any, inputs: Any, outputs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _single(value) for name, value in outputs.items()}


def _single(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_single, value))
    return value.float() if value.is_floating_point() else value
