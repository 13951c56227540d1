"""What the models read: texts as tokens, how many there are, and where the limit cuts.

A reader needs the tokenizer alone, so that what is too long is known before a model is loaded. The marks of
the models (``</s>``, ``<pad>`` …) are text where they stand in a text; the models' own tools would take them
for marks, and so drop or cut what stands there.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from metrics.neural.texts import Pass, Texts

_TEXTS_KEPT = 2**13
_PROMPTS_KEPT = 2**10
OVERLAP = 0.25
"""Share of a window that it has in common with the next one."""
_MOST_WINDOWS = 256
_NO_TEXT = "\U0010ffff"
"""No character: a piece that begins with it is found in no text."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many tokens each part has, marks aside, and which limits that breaks."""

    parts: Mapping[str, int]
    total: int
    """Tokens of the longest pass, marks included."""
    limit: int
    joint: bool
    """Whether the parts share one limit; else each has its own."""

    @property
    def fits(self) -> bool:
        """Whether nothing would be cut."""
        return self.total <= self.limit

    def reason(self) -> str:
        """Which part has how many tokens, for the reason of a truncated score."""
        counts = ", ".join(f"{name} {count}" for name, count in self.parts.items())
        how = f"{self.total} together" if self.joint else f"up to {self.total}"
        return f"{counts} tokens, with marks {how}; the model reads {self.limit}"


class Reader(ABC):
    """A tokenizer with the layout that a model wants its input in."""

    def __init__(self, tokenizer: Any, limit: int) -> None:
        self.limit = limit
        self.pad = int(tokenizer.pad_token_id)
        self._unknown = tokenizer.unk_token_id
        self._marks = set(tokenizer.all_special_ids) - {self._unknown}
        # The library's wrapper costs several times what its own tokenizer does.
        self._backend = _text_only(tokenizer.backend_tokenizer)
        self.ids = lru_cache(maxsize=_TEXTS_KEPT)(self._tokenize)

    def _encode(self, text: str) -> Any:
        encoding = self._backend.encode(text, add_special_tokens=False)
        if self._marks.isdisjoint(encoding.ids):
            return encoding
        return self._literal.encode(text, add_special_tokens=False)

    @cached_property
    def _literal(self) -> Any:
        """A tokenizer that takes the spelling of a mark apart like any other text.

        Not to split off marks is not enough: they are pieces of the vocabulary, too, and the likeliest ones.
        """
        described = json.loads(self._backend.to_str())
        if described["model"]["type"] != "Unigram":
            return self._backend
        for mark in self._marks:
            described["model"]["vocab"][mark][0] = f"{_NO_TEXT}{mark}"
        described |= {"added_tokens": [], "post_processor": None}
        return _text_only(type(self._backend).from_str(json.dumps(described)))

    def _tokenize(self, text: str) -> tuple[int, ...]:
        return tuple(self._encode(text).ids)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Half-open code-point offsets of each token of a text."""
        return list(self._encode(text).offsets)

    @abstractmethod
    def lengths(self, texts: Texts) -> Lengths:
        """Tokens of each part and of the pass."""

    def unknown(self, texts: Texts) -> int:
        """Tokens of all parts that the vocabulary does not hold."""
        return sum(self.ids(text).count(self._unknown) for part in texts.parts().values() for text in part)

    def view(self, texts: Texts) -> tuple[int, ...]:
        """The tokens of the hypothesis: two texts with the same ones are one to the model."""
        return self.ids(texts.hypothesis[-1])

    def windows(self, whole: Pass) -> list[Pass]:
        """As few overlapping windows as fit; each takes the same share of every part.

        Hypothesis, source and reference run on in parallel: what they share is cut at the same fraction.
        ``ValueError`` where no number of windows fits.
        """
        # Fewer could not even hold the texts without their marks.
        lengths = self.lengths(whole.texts)
        content = sum(lengths.parts.values()) if lengths.joint else max(lengths.parts.values())
        fewest = max(2, math.ceil(1 + (content / self.limit - 1) / (1 - OVERLAP)))
        for count in range(fewest, _MOST_WINDOWS + 1):
            width = 1 / (1 + (count - 1) * (1 - OVERLAP))
            share = whole.share / count
            windows = [
                self._window(whole, place * width * (1 - OVERLAP), width, share) for place in range(count)
            ]
            if all(self.lengths(window.texts).fits for window in windows):
                return windows
        raise ValueError("the text cannot be cut into windows that fit")

    def _window(self, whole: Pass, start: float, width: float, share: float) -> Pass:
        cut: dict[str, tuple[str, ...]] = {}
        offset = whole.offset
        for name, (text,) in whole.texts.parts().items():
            offsets = self.offsets(text)
            first = math.floor(start * len(offsets))
            # Rounding must not lose the last token of the last window.
            last = min(len(offsets), math.ceil((start + width) * len(offsets) - 1e-9))
            begin, end = (offsets[first][0], offsets[last - 1][1]) if first < last else (0, 0)
            cut[name] = (text[begin:end],)
            if name == "hypothesis":
                offset += begin
        return Pass(Texts(cut["hypothesis"], cut.get("source", ()), cut.get("reference", ())), offset, share)


def _text_only(backend: Any) -> Any:
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = True
    return backend


class SegmentReader(Reader):
    """For the regression COMETs, which encode each part on its own: ``<s> … </s>``.

    Context goes before the text with a ``</s>`` between two texts. The limit holds for each part.
    """

    def __init__(self, tokenizer: Any, limit: int) -> None:
        super().__init__(tokenizer, limit)
        self.begin, self.end = int(tokenizer.bos_token_id), int(tokenizer.eos_token_id)

    def sequence(self, part: tuple[str, ...]) -> tuple[int, ...]:
        """Token ids of one part with its marks."""
        ids = [self.begin]
        for text in part:
            ids += self.ids(text)
            ids.append(self.end)
        return tuple(ids)

    def lengths(self, texts: Texts) -> Lengths:
        """Tokens of each part; the longest counts."""
        parts = {name: len(self.sequence(part)) for name, part in texts.parts().items()}
        plain = {name: count - 1 - len(texts.parts()[name]) for name, count in parts.items()}
        return Lengths(plain, max(parts.values()), self.limit, joint=False)


class JointReader(SegmentReader):
    """For the unified COMETs: all parts in one sequence, ``<s> mt </s></s> src </s></s> ref </s>``."""

    def joined(self, *parts: tuple[str, ...]) -> tuple[int, ...]:
        """Token ids of several parts in one sequence."""
        first, *others = map(self.sequence, parts)
        ids = list(first)
        for other in others:
            ids.append(self.end)
            ids += other[1:]
        return tuple(ids)

    def lengths(self, texts: Texts) -> Lengths:
        """Tokens of each part, and of the sequence with all of them."""
        total = len(self.joined(*(texts.parts()[name] for name in ("hypothesis", *_others(texts)))))
        return Lengths(super().lengths(texts).parts, total, self.limit, joint=True)


def _others(texts: Texts) -> list[str]:
    return [name for name in texts.parts() if name != "hypothesis"]


class PromptReader(Reader):
    """For MetricX: one prompt with the parts named, the end mark left out.

    MetricX-24 (Juraska et al. 2024): ``source: S candidate: H reference: R``, the reference left out where
    there is none, an empty source where it is not read. MetricX-23 (Juraska et al. 2023):
    ``candidate: H reference: R``, for quality estimation ``candidate: H source: S``.
    """

    def __init__(self, tokenizer: Any, limit: int, generation: str) -> None:
        super().__init__(tokenizer, limit)
        self._older = generation == "metricx-23"
        self._prompt_ids = lru_cache(maxsize=_PROMPTS_KEPT)(self._tokenize)

    def prompt(self, texts: Texts) -> str:
        """The prompt as the model was trained on it."""
        source = texts.source[-1] if texts.source else None
        reference = texts.reference[-1] if texts.reference else None
        hypothesis = texts.hypothesis[-1]
        if self._older:
            return f"candidate: {hypothesis} " + (
                f"source: {source}" if reference is None else f"reference: {reference}"
            )
        prompt = f"source: {source or ''} candidate: {hypothesis}"
        return prompt if reference is None else f"{prompt} reference: {reference}"

    def sequence(self, texts: Texts) -> tuple[int, ...]:
        """Token ids of the prompt, without the end mark."""
        return self._prompt_ids(self.prompt(texts))

    def view(self, texts: Texts) -> tuple[int, ...]:
        """The tokens of the prompt: what stands beside the hypothesis may change its own."""
        return self.sequence(texts)

    def lengths(self, texts: Texts) -> Lengths:
        """Tokens of each part, and of the prompt with the end mark that the limit was set with."""
        parts = {name: len(self.ids(text)) for name, (text,) in texts.parts().items()}
        return Lengths(parts, len(self.sequence(texts)) + 1, self.limit, joint=True)
