"""BLEU, chrF, chrF++ and TER of single segments, with sacrebleu's tokenizers, formulas and signatures.

Papineni et al. 2002; Popović 2015, 2017; Snover et al. 2006; Post 2018. Every score equals the one of
``sacrebleu.sentence_bleu``, ``sentence_chrf`` and ``sentence_ter`` with the settings of the signature.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from challenge_sets import MissingExtraError
from challenge_sets.languages import same_language
from metrics.base import Metric, Need, extra_available
from metrics.ngrams import ReferenceGrams
from metrics.registry import METRICS
from metrics.requests import Answer, Request, Settings

# Batches arrive sorted by reference, so that a few statistics kept are as good as all.
_REFERENCES_KEPT = 64
_WORDS_KEPT = 2**16

DEFAULT_TOKENIZER = "13a"
# Classical Chinese and the Chinese varieties with a tag of their own are written without spaces, too.
_TOKENIZERS = {"zh": "zh", "lzh": "zh", "yue": "zh", "wuu": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}


def tokenizer_for(target_lang: str) -> str:
    """Name of sacrebleu's tokenizer for a normalised language tag; ``13a`` where it has none of its own."""
    for language, tokenizer in _TOKENIZERS.items():
        if same_language(target_lang, language):
            return tokenizer
    return DEFAULT_TOKENIZER


class LexicalMetric(Metric):
    """A metric that compares hypothesis and reference; a reference is analysed once for many texts."""

    needs: ClassVar[frozenset[Need]] = frozenset({"reference"})

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._statistics_of = lru_cache(maxsize=_REFERENCES_KEPT)(self.reference_statistics)

    @abstractmethod
    def reference_statistics(self, reference: str) -> Any:
        """What ``compare`` needs to know of a reference."""

    @abstractmethod
    def compare(self, hypothesis: str, reference: Any) -> float:
        """The raw score of a hypothesis against the statistics of its reference."""

    def score(self, requests: Sequence[Request]) -> list[Answer]:
        """One answer a request; ``not_applicable`` where there is no reference. No text is ever missing."""
        return [
            Answer(None, "not_applicable", "no reference")
            if request.reference is None
            else Answer(self.compare(request.hypothesis, self._statistics_of(request.reference)))
            for request in requests
        ]


def _sacrebleu_parts(metric: BLEU | CHRF | TER) -> dict[str, str]:
    metric.num_refs = 1  # sacrebleu fills this in when it first scores
    parts = metric.get_signature().format().split("|")
    return dict(part.split(":", 1) for part in parts)


@METRICS.register("bleu")
class Bleu(LexicalMetric):
    """Sentence BLEU with effective order."""

    name = "bleu"
    extras: ClassVar[Mapping[str, tuple[str, ...]]] = {"ja": ("ja",), "ko": ("ko",)}
    citation = "Papineni et al. 2002"
    description = "sentence BLEU, n-grams of 1 to 4 tokens, effective order, exponential smoothing (0 to 100)"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        for extra, languages in self.extras.items():
            wanted = any(same_language(settings.target_lang, language) for language in languages)
            if wanted and not extra_available(extra):
                raise MissingExtraError(f"BLEU of texts in '{settings.target_lang}'", extra)
        self._tokenizer = tokenizer_for(settings.target_lang)
        self._bleu = BLEU(effective_order=True, tokenize=self._tokenizer)
        self._tokens_of_word = lru_cache(maxsize=_WORDS_KEPT)(self._tokenize_word)

    def parts(self) -> Mapping[str, str]:
        """sacrebleu's own signature: tokenizer, case, smoothing, version."""
        return _sacrebleu_parts(self._bleu)

    def _tokenize(self, text: str) -> list[str]:
        tokenized: str = self._bleu._preprocess_segment(text)
        return tokenized.split()

    def _tokenize_word(self, word: str) -> list[str]:
        # No rule of 13a touches letters and digits alone.
        return [word] if word.isalnum() else self._tokenize(word)

    def _tokens(self, text: str) -> list[str]:
        # The rules of 13a look one character to either side and take the ends of a text for white space,
        # so that it can be applied word by word, and most words have been met before. Only a line break
        # after a hyphen joins words.
        if self._tokenizer != DEFAULT_TOKENIZER or "\n" in text:
            return self._tokenize(text)
        tokens: list[str] = []
        for word in text.split():
            tokens += self._tokens_of_word(word)
        return tokens

    def reference_statistics(self, reference: str) -> ReferenceGrams:
        """The n-grams of the reference's tokens."""
        return ReferenceGrams(tuple(self._tokens(reference)), self._bleu.max_ngram_order)

    def compare(self, hypothesis: str, reference: ReferenceGrams) -> float:
        """sacrebleu's formula on the clipped matches."""
        tokens = tuple(self._tokens(hypothesis))
        found = reference.match(tokens)
        statistics = [len(tokens), reference.length, *found.matches, *found.totals]
        return float(self._bleu._compute_score_from_stats(statistics).score)

    def view(self, request: Request) -> Hashable:
        """The tokens."""
        return " ".join(self._tokens(request.hypothesis))


@METRICS.register("chrf")
class Chrf(LexicalMetric):
    """chrF2: character n-grams of orders 1 to 6, white space removed."""

    name = "chrf"
    word_order: ClassVar[int] = 0
    citation = "Popović 2015"
    description = "chrF2, n-grams of 1 to 6 characters without white space, recall weighted twice (0 to 100)"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._chrf = CHRF(word_order=self.word_order)

    def parts(self) -> Mapping[str, str]:
        """sacrebleu's own signature: orders, case, white space, version."""
        return _sacrebleu_parts(self._chrf)

    def _words(self, text: str) -> tuple[str, ...]:
        return tuple(self._chrf._remove_punctuation(self._chrf._preprocess_segment(text)))

    def _characters(self, text: str) -> str:
        return "".join(self._chrf._preprocess_segment(text).split())

    def reference_statistics(self, reference: str) -> list[ReferenceGrams]:
        """The n-grams of the characters and, where they count, of the words."""
        grams = [ReferenceGrams(self._characters(reference), self._chrf.char_order)]
        if self.word_order:
            grams.append(ReferenceGrams(self._words(reference), self.word_order))
        return grams

    def compare(self, hypothesis: str, reference: list[ReferenceGrams]) -> float:
        """sacrebleu's F score on the clipped matches."""
        statistics: list[int] = []
        texts: list[str | tuple[str, ...]] = [self._characters(hypothesis)]
        if self.word_order:
            texts.append(self._words(hypothesis))
        for grams, text in zip(reference, texts, strict=True):
            found = grams.match(text)
            for total, known, matches in zip(found.totals, grams.totals, found.matches, strict=True):
                # As in sacrebleu, an order that the reference is too short for does not count at all.
                statistics += (total if known else 0, known, matches)
        return float(self._chrf._compute_f_score(statistics))

    def view(self, request: Request) -> Hashable:
        """The text without white space."""
        return self._characters(request.hypothesis)


@METRICS.register("chrf++")
class ChrfPlusPlus(Chrf):
    """chrF2++: chrF with words and pairs of words added."""

    name = "chrf++"
    word_order: ClassVar[int] = 2
    citation = "Popović 2017"
    description = "chrF2++, the n-grams of chrF and those of 1 and 2 words (0 to 100)"

    def view(self, request: Request) -> Hashable:
        """The words, punctuation split off as sacrebleu does it."""
        return " ".join(self._words(request.hypothesis))


@METRICS.register("ter")
class Ter(LexicalMetric):
    """Translation edit rate: lower is better."""

    name = "ter"
    citation = "Snover et al. 2006"
    higher_is_better = False
    description = (
        "translation edit rate: edits and shifts per reference word, case ignored (0 is perfect); "
        "Chinese characters and kanji are words of their own, runs of kana stay together"
    )

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        # Written without spaces, a sentence would be one word. sacrebleu takes Chinese characters and kanji
        # apart, but leaves runs of kana whole.
        by_character = tokenizer_for(settings.target_lang) in ("zh", "ja-mecab")
        self._ter = TER(normalized=by_character, asian_support=by_character)

    def parts(self) -> Mapping[str, str]:
        """sacrebleu's own signature: case, normalisation, version."""
        return _sacrebleu_parts(self._ter)

    def reference_statistics(self, reference: str) -> Any:
        """sacrebleu's own."""
        return self._ter._cache_references([[reference]])[0]

    def compare(self, hypothesis: str, reference: Any) -> float:
        """sacrebleu's own."""
        words = self._ter._preprocess_segment(hypothesis)
        statistics = self._ter._compute_segment_statistics(words, reference)
        return float(self._ter._compute_score_from_stats(statistics).score)

    def view(self, request: Request) -> Hashable:
        """The words in lower case."""
        return str(self._ter._preprocess_segment(request.hypothesis))
