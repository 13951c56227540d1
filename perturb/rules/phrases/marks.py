"""Punctuation errors that a careful reader corrects, by language."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import pairwise

from perturb.rules.phrases.plain import balanced, final_mark, inside, protected, sentences, spaced
from perturb.rules.phrases.slips import Slip

_EN_ADVERB = re.compile(
    r"(?:However|Moreover|Furthermore|Nevertheless|In addition|For example|For instance|In fact|As a result"
    r"|In other words|On the other hand|Unfortunately|Fortunately)(,) "
)
_EN_CLAUSE = re.compile(
    r"(?:When|If|Although|Though|After|Because|While|Since|As soon as|Before|Once|Even though|Unless)"
    r"((?: [^\s,.;:!?()\"“”]+){5,12})(,) (?:he|she|it|they|we|you|I|the|there|his|her|their|a|this|I'm"
    r"|I'll|you're)\b"
)
_EN_LIST = re.compile(r"\b[a-z]{3,}(,) [a-z]{3,}, (?:and|or) [a-z]{3,}\b")
_EN_ANSWER = re.compile(r"(?:Yes|No|Sorry)(,) (?=(?:I|we|he|she|it|they|you|that)\b)")
_EN_RELATIVE = re.compile(r"[a-z]{3,}(,) (?:which|who|whose) (?:is|was|were|are|has|had|have|will)\b")
_EN_DIRECT = re.compile(r"\b(?:said|asked|replied|answered|says|added)(,) [\"“‘']")
_DE_CONJUNCTION = re.compile(
    r"[\wäöüß](,) (?:dass|weil|ob|wenn|obwohl|sondern|sodass|nachdem|bevor|während|aber|indem"
    r"|um (?:\w+ ){0,5}zu [a-zäöüß]+en"
    r"|falls|damit|denn|welche[rsmn]?|deren|dessen)\b"
)
_DE_CLAUSE = re.compile(
    r"(?:Wenn|Als|Nachdem|Obwohl|Weil|Während|Da|Bevor|Falls|Sobald)((?: [^\s,.;:!?()\"„“]+){3,14})(,) "
    r"(?:ist|war|wird|werden|kann|können|hat|haben|habe|bin|sind|waren|wurde|wurden|sollte|sollten|muss"
    r"|müssen|würde|ich|[a-zäöüß]+t|[a-zäöüß]+en)\b"
)
_DE_FRONTED = re.compile(
    r"(?:In|Im|Am|Nach|Seit|Vor|Bei|Laut|Mit)(?: [^\s,.;:!?()\"„“-]+){2,6}?( )"
    r"(?:wurde|wurden|ist|war|sind|waren|hat|haben|wird|werden|kann|können|hatte|hatten|gibt|gab) (?:er"
    r"|sie|es|ich|wir|die|der|das|eine?|man)\b"
)
_EN_QUESTION = re.compile(
    r"(?:(?:So|And|But|Then|Hey|Oh|Wait|Well),? )?(?:Who|What|Where|When|Why|How|Which|Whose|Is|Are|Was"
    r"|Were|Do|Does|Did|Can|Could|Will"
    r"|Would|Should|Shall|Have|Has|Had|Am|Isn't|Aren't|Don't|Doesn't|Didn't|Can't|Won't|who|what|why|how"
    r"|where|is|are|do|does|did|can|will|should) "
)
_DE_QUESTION = re.compile(
    r"(?:(?:Und|Aber|Also|Oh),? )?(?:[Ww]er|[Ww]as|[Ww]o|[Ww]ann|[Ww]arum|[Ww]ie|[Ww]elche[rsmn]?"
    r"|[Ww]ieso|[Ww]oher|[Ww]ohin|Ist|Sind|War|Hat|Haben|Hast"
    r"|Kann|Kannst|Können|Wird|Werden|Soll|Sollte|Sollen|Gibt|Habe|Bin|Bist|Hätte|Könnte|Würde|Muss|Darf"
    r"|Weiß|Möchten|Wollen) "
)
_ZH_QUESTION = re.compile(r"吗|呢|什么|谁|哪|怎么|为什么|几|多少|好不好|是不是|要不要|能不能|有没有")
_JA_QUESTION = re.compile(r"(?:何|誰|どこ|どう|なぜ|いつ|どれ|どの|なんで|どんな|いくら|どうして)")
_JA_ASKING = ("か", "の", "かな", "かしら", "ね", "っけ")
_KO_QUESTION = re.compile(r"(?:까|나요|니|냐|가요|을까|래요|죠)\Z")
_QUESTIONS = {
    "en": _EN_QUESTION,
    "de": _DE_QUESTION,
    "zh": _ZH_QUESTION,
    "ja": _JA_QUESTION,
    "ko": _KO_QUESTION,
}
_PAIRS = tuple(zip('“(（「『《„»«"', '”)）」』》“«»"', strict=True))


def punctuation_slips(text: str, language: str, rng: random.Random) -> Iterator[Slip]:
    """Yield ``(start, end, replacement)``, each one wrong mark, kinds and places in random order."""
    spans = protected(text)
    parts = sentences(text, language)
    groups: list[list[Slip]] = [
        list(_quotes(text, parts)),
        list(_questions(text, parts, language)),
        list(_run_together(text, parts, language)),
        list(_commas(text, parts, language)),
        list(_widths(text, parts, language)),
    ]
    for group in groups:
        rng.shuffle(group)
    filled = [group for group in groups if group]
    rng.shuffle(filled)
    last = list(_final(text, parts, language, rng))
    for group in (*filled, last):
        for slip in group:
            if not inside(slip[0], slip[1], spans):
                yield slip


def _quotes(text: str, parts: list[tuple[int, int]]) -> Iterator[Slip]:
    """Drop the closing one of a pair that closes within its sentence."""
    for start, end in parts:
        piece = text[start:end]
        if not balanced(piece):
            continue
        for opening, closing in _PAIRS:
            if opening == closing:
                at = piece.rfind(closing) if piece.count(closing) == 2 else -1
            elif piece.count(opening) == 1 == piece.count(closing):
                at = piece.find(closing)
            else:
                continue
            if at > 3 and not piece[at - 1].isspace() and at - piece.find(opening) > 3:
                yield start + at, start + at + 1, ""


def _questions(text: str, parts: list[tuple[int, int]], language: str) -> Iterator[Slip]:
    """A question that ends like a statement."""
    full_stop = "。" if not spaced(language) else "."
    for start, end in parts:
        at = final_mark(text, start, end)
        if at < 0 or text[at] not in "?？" or (at > start and text[at - 1] in "?？!！."):
            continue
        body = text[start:at].lstrip("\"“„‘'«»-「『")
        tail = body.rpartition(",")[2].strip() if language == "en" else ""
        pattern = _QUESTIONS[language]
        asks = pattern.match(body) or pattern.match(tail) if spaced(language) else pattern.search(body)
        if language == "ja" and body.endswith(_JA_ASKING):
            continue  # A question marked by its particle may well end in a full stop.
        if len(body) > 3 and (pattern.search(body) if language == "ko" else asks):
            yield at, at + 1, full_stop


def _run_together(text: str, parts: list[tuple[int, int]], language: str) -> Iterator[Slip]:
    """Two sentences that run into each other without a mark."""
    for (start, end), (following, stop) in pairwise(parts):
        between = text[end:following]
        # Across a line end the break itself divides; short exclamations need no mark to be read.
        if "\n" in between or end - start < 12 or stop - following < 8 or text[end - 1] not in ".。":
            continue
        if text[end - 2] in ".。" or (spaced(language) and not text[following].isalpha()):
            continue
        if text[end - 2].isdigit() or not text[following].isalnum():
            continue
        yield end - 1, end, ""


def _commas(text: str, parts: list[tuple[int, int]], language: str) -> Iterator[Slip]:
    if language == "en":
        for start, end in parts:
            begin = start + (1 if text[start] in "\"“‘'" else 0)
            for pattern in (_EN_ADVERB, _EN_CLAUSE):
                if (found := pattern.match(text, begin, end)) is not None:
                    at = found.start(pattern.groups)
                    yield at, at + 1, ""
            if (found := _EN_ANSWER.match(text, begin, end)) is not None:
                yield found.start(1), found.end(1), ""
            for pattern in (_EN_LIST, _EN_RELATIVE, _EN_DIRECT):
                for found in pattern.finditer(text, start, end):
                    yield found.start(1), found.end(1), ""
    elif language == "de":
        for start, end in parts:
            for found in _DE_CONJUNCTION.finditer(text, start, end):
                yield found.start(1), found.end(1), ""
            if (found := _DE_CLAUSE.match(text, start, end)) is not None:
                yield found.start(2), found.end(2), ""
            if (found := _DE_FRONTED.match(text, start, end)) is not None:
                yield found.start(1), found.end(1), ", "


def _widths(text: str, parts: list[tuple[int, int]], language: str) -> Iterator[Slip]:
    """Marks of another width, or the wrong mark of the script."""
    if language not in ("ja", "zh"):
        return
    comma, other = ("、", "，") if language == "ja" else ("，", "、")
    for found in re.finditer(rf"(?<=[\u3040-\u30ff一-龥]){comma}(?=[\u3040-\u30ff一-龥])", text):
        yield found.start(), found.end(), ","
    for start, end in parts:
        at = final_mark(text, start, end)
        if at > 0 and text[at] == "。" and text[at - 1] not in "。．…":
            yield at, at + 1, "."
    if language == "zh":
        # A comma between clauses written as the mark that only lists words.
        for found in re.finditer(rf"(?<=[一-龥]{{6}}){comma}(?=[一-龥]{{6}})", text):
            yield found.start(), found.end(), other


def _final(text: str, parts: list[tuple[int, int]], language: str, rng: random.Random) -> Iterator[Slip]:
    """The last mark of the text missing, or a comma in its place."""
    if not parts:
        return
    start, end = parts[-1]
    at = final_mark(text, start, end)
    if at < 8 or text[at] not in ".。?？!！" or not (text[at - 1].isalnum() or text[at - 1] in ")）"):
        return
    length = text.count(" ", start, at) if spaced(language) else (at - start) // 3
    if length < 3:
        return
    # Without its mark a short line of talk is style; a comma there is none.
    if text[at] in ".。" and (length < 7 or rng.random() < 0.5):
        yield at, at + 1, {"ja": "、", "zh": "，"}.get(language, ",")
    else:
        yield at, at + 1, ""
