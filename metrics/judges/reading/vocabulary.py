"""The words of an answer: severities, ways to say that there is no error, classes of errors, remarks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from challenge_sets.records import Severity

_LATIN: dict[Severity, str] = {
    "critical": "critical kritisch kritische kritischer critique critiques crítico críticos crítica critico",
    "major": "major majeur majeure majeures schwerwiegend schwerwiegende schwerwiegender hauptfehler",
    "minor": "minor mineur mineure mineures geringfügig geringfügige geringfügiger nebenfehler menor menores",
}
_OTHER: dict[Severity, str] = {
    "critical": "致命 致命性 致命的 致命的な クリティカル 치명적 치명적인 크리티컬",
    "major": "主要 主要的 主要な メジャー 주요 주요한 메이저",
    "minor": "次要 次要的 轻微 轻微的 輕微 輕微的 軽微 軽微な マイナー 경미 경미한 사소 사소한 마이너",
}
_LATIN_NOUNS = (
    "error errors issue issues mistake mistakes severity fehler erreur erreurs error(s) issue(s) errores"
)
_OTHER_NOUNS = "错误 錯誤 问题 問題 エラー 誤り 오류 에러 오류들"

# Words for a severity that stand for different ones in different schemes, or for none of these.
_AMBIGUOUS = (
    "严重 严重错误 嚴重 嚴重錯誤 重大 重大错误 重大な誤り 重大なエラー 重度 中等 中度 一般 "
    "심각 심각한 심각한오류 중대 중대한 severe serious fatal moderate neutral trivial significant high "
    "medium low schwer schwere "
    "leicht leichte mittel grave graves mayor mayores grande blocker"
)


def _headings() -> dict[str, Severity]:
    found: dict[str, Severity] = {}
    for words, nouns, gaps in ((_LATIN, _LATIN_NOUNS, (" ",)), (_OTHER, _OTHER_NOUNS, ("", " "))):
        for severity, names in words.items():
            for name in names.split():
                found[name.casefold()] = severity
                found |= {f"{name}{gap}{noun}".casefold(): severity for noun in nouns.split() for gap in gaps}
    return found


SEVERITIES = _headings()
"""Spelling, case-folded, to the severity that it names beyond doubt."""

AMBIGUOUS = frozenset(word.casefold() for word in _AMBIGUOUS.split()) | frozenset(
    f"{word} {noun}".casefold()
    for word in _AMBIGUOUS.split()
    for noun in ("errors", "error", "issues", "fehler", "오류", "错误")
)

SEVERITY_NAMES = "|".join(sorted(map(re.escape, SEVERITIES), key=len, reverse=True))
"""All spellings as alternatives of a pattern, the longest first."""

_NO_ERROR = (
    "no-error|no error|no errors|no-errors|no error(s)|noerror|no_error|none|none found|none identified|"
    "none detected|n/a|na|not applicable|nil|no issues|no issue|no issues found|no mistakes|error-free|"
    "kein fehler|keine fehler|keine|keiner|fehlerfrei|keine fehler gefunden|nicht zutreffend|"
    "aucune|aucun|aucune erreur|pas d'erreur|ninguno|ninguna|sin errores|ningún error|nessuno|nessun errore|"
    "无|無|无错误|無錯誤|没有错误|沒有錯誤|无误|无问题|無誤|不适用|"
    "없음|오류 없음|오류없음|에러 없음|에러없음|해당 없음|해당없음|오류가 없습니다|없습니다|"
    "なし|エラーなし|エラー無し|誤りなし|該当なし|問題なし|エラーはありません|ありません"
)
_FOUND = ("", " found", " identified", " detected", " present", " were found", " were identified")


def _no_errors() -> dict[str, Severity | None]:
    spelled: dict[str, Severity | None] = {name.casefold(): None for name in _NO_ERROR.split("|")}
    for noun in ("error", "errors", "issues"):
        spelled |= {f"no {noun}{end}": None for end in _FOUND}
        for severity in ("critical", "major", "minor"):
            spelled |= {f"no {severity} {noun}{end}": severity for end in _FOUND}
    return spelled


NO_ERRORS = _no_errors()
"""Spelling, case-folded, to the severity that it names; ``None`` where it names none."""

_REMARKS = (
    "explanation explanations explain note notes summary comment comments overall reasoning rationale reason "
    "reasons analysis justification conclusion assessment remark remarks suggestion suggestions suggested "
    "correction corrections corrected correct better instead expected alternative reference source original "
    "fix fixed improved improvement proposed recommended revised literal literally meaning means say says "
    "target translation hypothesis context score rating quality should erklärung begründung anmerkung "
    "anmerkungen hinweis zusammenfassung vorschlag korrektur besser übersetzung quelle"
)
_REMARKS_OTHER = (
    "总结 總結 说明 說明 解释 解釋 备注 備註 建议 原文 译文 설명 요약 참고 비고 제안 원문 번역 "
    "説明 備考 要約 訂正 訳文"
)


def _any_of(words: Iterable[str], others: Iterable[str]) -> re.Pattern[str]:
    """One of the words as a whole, or one of the others anywhere."""
    return re.compile(rf"(?<![^\W\d_])(?:{'|'.join(words)})(?![^\W\d_])|{'|'.join(others)}")


_REMARK = _any_of(_REMARKS.split(), _REMARKS_OTHER.split())
# What is judged bears these names as well: "wrong translation" explains nothing.
_OF_WHAT_IS_JUDGED = [
    "target",
    "translation",
    "hypothesis",
    "context",
    "score",
    "rating",
    "quality",
    "overall",
    "assessment",
    "literal",
    "meaning",
    "übersetzung",
    "译文",
    "번역",
    "訳文",
]
_EXPLANATION = _any_of(
    (word for word in _REMARKS.split() if word not in _OF_WHAT_IS_JUDGED),
    (word for word in _REMARKS_OTHER.split() if word not in _OF_WHAT_IS_JUDGED),
)

_INVENTORY = (
    "accuracy/addition",
    "accuracy/mistranslation",
    "accuracy/omission",
    "accuracy/untranslated text",
    "fluency/character encoding",
    "fluency/grammar",
    "fluency/inconsistency",
    "fluency/punctuation",
    "fluency/register",
    "fluency/spelling",
    "locale convention/currency format",
    "locale convention/currency",
    "locale convention/date format",
    "locale convention/date",
    "locale convention/name format",
    "locale convention/name",
    "locale convention/telephone format",
    "locale convention/telephone",
    "locale convention/time format",
    "locale convention/time",
    "style/awkward",
    "terminology/inappropriate for context",
    "terminology/inappropriate",
    "terminology/inconsistent use",
    "terminology/inconsistent",
    "non-translation",
    "other",
)
_GAPS = re.compile(r"[\W_]+")


class Classes:
    """Names of classes of errors, however their parts are joined and whatever their case.

    ``names`` are those asked for; empty: the MQM inventory (Lommel, Uszkoreit and Burchardt 2014) as GEMBA
    words it.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._full = {class_key(name): name for name in tuple(names) or _INVENTORY}
        self._tops = {class_key(name.split("/")[0]): name.split("/")[0] for name in self._full.values()}
        self._lasts = {class_key(name.split("/")[-1]): name for name in self._full.values() if "/" in name}
        in_two = sorted((key.split("/") for key in self._full.values() if "/" in key), key=len)
        self._spelled = re.compile(
            "|".join(sorted((r"\s*/\s*".join(map(re.escape, parts)) for parts in in_two), reverse=True))
            or r"(?!)",
            re.IGNORECASE,
        )

    def full(self, text: str) -> str | None:
        """The class that the text names, as the inventory spells it."""
        return self._full.get(class_key(text))

    def named(self, text: str) -> str | None:
        """As ``full``, or the first part of classes alone (``accuracy``)."""
        key = class_key(text)
        return self._full.get(key) or self._tops.get(key)

    def at_the_start_of(self, text: str) -> str | None:
        """The class of several parts that the text begins with, however the parts are joined."""
        key = class_key(text) + " "
        return next(
            (name for each, name in self._full.items() if "/" in name and key.startswith(each + " ")), None
        )

    def last(self, text: str) -> str | None:
        """The class whose last part the text is (``mistranslation``), in the singular or the plural."""
        key = class_key(text)
        return self._lasts.get(key) or self._lasts.get(key.removesuffix("s"))

    def spelled_in(self, text: str) -> list[str]:
        """The classes of several parts that the text holds anywhere, with a slash between their parts."""
        if "/" not in text:
            return []
        return [name for found in self._spelled.finditer(text) if (name := self.full(found[0])) is not None]


@lru_cache(maxsize=64)
def classes_of(names: tuple[str, ...]) -> Classes:
    """The classes of a form."""
    return Classes(names)


def class_key(text: str) -> str:
    """The words of a class alone."""
    return _GAPS.sub(" ", text.casefold()).strip()


def is_remark(text: str) -> bool:
    """Whether a few words announce a remark: an explanation, a correction, a summary."""
    return _REMARK.search(text.casefold()) is not None


def is_explanation(text: str) -> bool:
    """As ``is_remark``, words apart that name as well what is judged (``translation``, ``quality``)."""
    return _EXPLANATION.search(text.casefold()) is not None
