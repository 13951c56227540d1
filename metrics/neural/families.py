"""The two families of neural metrics, COMET and MetricX: which files they need and how they are read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self

from challenge_sets import InputError
from challenge_sets.files import parse_json, read_text
from challenge_sets.report import DataReport
from metrics.neural.batching import Budget
from metrics.neural.cards import GATED, KNOWN, METRICX_LIMITS
from metrics.neural.checkpoints import Located, is_path, locate
from metrics.neural.comet import Regression, Unified, XComet
from metrics.neural.loading import load_comet, load_mt5, load_tokenizer
from metrics.neural.metric import NeuralMetric, Variant
from metrics.neural.metricx import MetricX
from metrics.neural.network import Network
from metrics.neural.readers import JointReader, PromptReader, SegmentReader
from metrics.neural.texts import InContext
from metrics.requests import ModelOptions, Settings

_COMET_FILES = ("checkpoints/model.ckpt|checkpoints/*.ckpt", "hparams.yaml")
_ENCODER_FILES = (
    "tokenizer.json|sentencepiece.bpe.model",
    "config.json",
    "sentencepiece.bpe.model",
    "tokenizer_config.json",
    "special_tokens_map.json",
)
_MT5_FILES = (
    "model*.safetensors|pytorch_model*.bin",
    "config.json",
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
)
_MT5_TOKENIZER_FILES = (
    "tokenizer.json|spiece.model",
    "spiece.model",
    "config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
)
_REGRESSION = ("regression_metric", "referenceless_regression_metric")
_UNIFIED = ("unified_metric", "xcomet_metric")
_ENCODERS = ("XLM-RoBERTa", "XLM-RoBERTa-XL")
_MT5_SIZES = {512: "small", 768: "base", 1024: "large", 2048: "xl", 4096: "xxl"}


@cache
def _located(
    name: str, revision: str | None, download: bool, files: tuple[str, ...], required: int
) -> Located:
    # Once a process: the weights of a local checkpoint are read through for its revision.
    return locate(
        name, revision=revision, files=files, required=required, known=KNOWN, gated=GATED, download=download
    )


def _comet_files(checkpoint: str, options: ModelOptions) -> Located:
    return _located(checkpoint, options.revision, options.download, _COMET_FILES, 2)


@cache
def comet_settings(checkpoint: str, options: ModelOptions) -> Mapping[str, Any]:
    """The ``hparams.yaml`` of a COMET checkpoint; ``InputError`` where this release cannot run its model."""
    import yaml

    path = _comet_files(checkpoint, options).folder / "hparams.yaml"
    try:
        settings = yaml.safe_load(read_text(path, DataReport()))
    except yaml.YAMLError as error:
        raise InputError("not the settings of a COMET checkpoint", path=path) from error
    if not isinstance(settings, dict) or "class_identifier" not in settings:
        raise InputError("not the settings of a COMET checkpoint: no class_identifier", path=path)
    if not isinstance(settings.get("pretrained_model"), str):
        raise InputError("not the settings of a COMET checkpoint: no pretrained_model", path=path)
    for name, supported in (
        ("class_identifier", (*_REGRESSION, *_UNIFIED)),
        ("encoder_model", _ENCODERS),
    ):
        if settings.get(name) not in supported:
            raise InputError(
                f"{name} is '{settings.get(name)}', of which this release knows nothing",
                path=path,
                hint=f"known: {', '.join(supported)}",
            )
    return settings


def comet_variants(checkpoint: str, options: ModelOptions) -> tuple[Variant, ...]:
    """What a COMET checkpoint can be given, its usual inputs first."""
    settings = comet_settings(checkpoint, options)
    kind = settings["class_identifier"]
    if kind == "regression_metric":
        return ("both", "ref")
    if kind == "referenceless_regression_metric":
        return ("qe",)
    segments = ["mt", "src", "ref"] if kind == "xcomet_metric" else settings.get("input_segments", [])
    with_source, with_reference = "src" in segments, "ref" in segments
    if with_source and with_reference:
        return ("both", "qe")
    return ("qe",) if with_source else ("ref",)


class CometMetric(NeuralMetric):
    """A COMET of any kind; higher is better."""

    @classmethod
    def configured(cls, model: ModelOptions) -> type[Self]:
        """Where no variant was named, the usual one of the checkpoint; ``InputError`` for one it has not."""
        super().configured(model)
        possible = comet_variants(cls.card.checkpoint, model)
        variant = cls.variant or possible[0]
        if variant not in possible:
            raise InputError(
                f"{cls.name}: the checkpoint takes {' or '.join(possible)}, not {variant}",
                hint="both: source and reference, ref: reference alone, qe: source alone",
            )
        return cls if variant == cls.variant else cls.as_variant(variant)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if isinstance(self._layout, InContext):
            if self._kind == "xcomet_metric":
                raise InputError(
                    f"{self.name}: XCOMET has no form with context",
                    hint="score whole documents with whole: or slide:",
                )
            if self._layout.before_hypothesis == "ref" and "reference" not in self.needs:
                raise InputError(
                    f"{self.name}: there is no reference to put before the hypothesis",
                    hint=f"doc-hyp:{self.name.partition(':')[2]}",
                )

    @property
    def _files(self) -> Located:
        return _comet_files(self.card.checkpoint, self._options)

    @property
    def _hparams(self) -> Mapping[str, Any]:
        return comet_settings(self.card.checkpoint, self._options)

    @property
    def _kind(self) -> str:
        return str(self._hparams["class_identifier"])

    @property
    def _encoder(self) -> Located:
        return _located(
            str(self._hparams["pretrained_model"]), None, self._options.download, _ENCODER_FILES, 2
        )

    @cached_property
    def reader(self) -> SegmentReader:
        """By the encoder's tokenizer; a regression model keeps two positions of each part free."""
        path = self._encoder.folder / "config.json"
        positions = _json_object(path).get("max_position_embeddings")
        if not isinstance(positions, int):
            raise InputError("the encoder's configuration names no max_position_embeddings", path=path)
        tokenizer = load_tokenizer(self._encoder.folder, self._encoder.name, encoder=True)
        if self._kind in _REGRESSION:
            return SegmentReader(tokenizer, positions - 4)
        return JointReader(tokenizer, positions - 2)

    def load(self, device: str, budget: Budget) -> Network:
        """By the package's classes, from the files that were found."""
        weights = self._files.weights
        if len(weights) > 1:
            raise InputError(
                f"{len(weights)} checkpoints here", path=weights[0].parent, hint="name one of the files"
            )
        model = load_comet(
            weights[0],
            self._encoder.folder,
            self._hparams,
            self.card.checkpoint,
            self._options.precision,
            device,
        )
        if isinstance(self.reader, JointReader):
            return (XComet if self._kind == "xcomet_metric" else Unified)(model, self.reader, budget)
        return Regression(model, self.reader, budget)

    def model_parts(self) -> Mapping[str, str]:
        """Checkpoint and encoder with their revisions, and the packages."""
        return {
            **_named(self._files),
            "tokenizer": "@".join(_named(self._encoder).values()),
            "comet": version("unbabel-comet"),
            "transformers": version("transformers"),
        }

    def no_source(self) -> tuple[str, ...]:
        """An empty text, but for a model of hypothesis and reference alone."""
        return ("",) if self._kind == "regression_metric" else ()


class MetricXMetric(NeuralMetric):
    """A MetricX; lower is better: 0 is perfect, 25 the worst."""

    higher_is_better: ClassVar[bool] = False
    scale: ClassVar[float] = 25.0

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if isinstance(self._layout, InContext):
            raise InputError(
                f"{self.name}: MetricX has no form with context",
                hint="score whole documents with whole: or slide:",
            )
        if self.variant == "both" and self.card.family == "metricx-23":
            raise InputError(f"{self.name}: MetricX-23 reads the reference or the source, not both")

    @property
    def _files(self) -> Located:
        options = self._options
        return _located(self.card.checkpoint, options.revision, options.download, _MT5_FILES, 2)

    @cached_property
    def _tokenizer(self) -> Located:
        name = self.card.tokenizer
        if name is None:
            folder = self._files.folder
            if any((folder / file).is_file() for file in ("tokenizer.json", "spiece.model")):
                name = str(folder)
            else:
                # All sizes share one vocabulary; the one of the model's own size is likeliest to be there.
                width: Any = _json_object(folder / "config.json").get("d_model")
                name = f"google/mt5-{_MT5_SIZES.get(width, 'xl')}"
        return _located(name, None, self._options.download, _MT5_TOKENIZER_FILES, 1)

    @cached_property
    def reader(self) -> PromptReader:
        """The prompt of the model's generation."""
        tokenizer = load_tokenizer(self._tokenizer.folder, self._tokenizer.name, encoder=False)
        return PromptReader(tokenizer, METRICX_LIMITS[self.card.family], self.card.family)

    def load(self, device: str, budget: Budget) -> Network:
        """An mT5 by transformers."""
        model = load_mt5(self._files.folder, self.card.checkpoint, self._options.precision, device)
        return MetricX(model, self.reader, budget)

    def model_parts(self) -> Mapping[str, str]:
        """Checkpoint and tokenizer with their revisions, the generation of the prompt, and the package."""
        return {
            **_named(self._files),
            "tokenizer": "@".join(_named(self._tokenizer).values()),
            "prompt": self.card.family,
            "transformers": version("transformers"),
        }

    def no_source(self) -> tuple[str, ...]:
        """An empty text, which the prompt of MetricX-24 has a place for."""
        return () if self.card.family == "metricx-23" else ("",)


def _json_object(path: Path) -> dict[str, Any]:
    value = parse_json(read_text(path, DataReport()), path=path)
    if not isinstance(value, dict):
        raise InputError("not the configuration of a model", path=path)
    return value


def _named(located: Located) -> dict[str, str]:
    """Model and revision for a signature: a path by its last name, because its content is what counts."""
    name = Path(located.name).name if is_path(located.name) else located.name
    return {"model": name, "rev": located.revision[:23]}
