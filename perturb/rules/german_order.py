"""German word order by closed classes, without a parse: moves that break a rule every reader knows."""

from __future__ import annotations

import re

from perturb.base import Change
from perturb.rules.tables import word_set

_FINITE = (
    "bin|bist|ist|sind|seid|war|waren|habe|hat|haben|hatte|hatten|wird|werden|wurde|wurden|werde|kann|können"
    "|konnte|konnten|muss|müssen|musste|mussten|soll|sollen|sollte|sollten|will|wollen|wollte|wollten|darf"
    "|dürfen|durfte|durften|möchte|möchten|würde|würden|könnte|könnten"
)
_PRONOUN = "ich|er|sie|es|wir|man|Sie|du|ihr"
_ARTICLE = (
    "der|die|das|den|dem|des|ein|eine|einen|einem|einer|eines|kein|keine|keinen|keinem|keiner|mein|meine"
    "|meinen|meinem|meiner|sein|seine|seinen|seinem|seiner|ihre|ihren|ihrem|ihrer|unser|unsere|unseren"
    "|unserem|unserer"
)
_WORD = r"[\wäöüÄÖÜß-]+"
_NOUN = r"[A-ZÄÖÜ][a-zäöüß]+(?:-[A-ZÄÖÜ]?[a-zäöüß]+)*"
# Words in -e, -en, -er, -es, -em that are no adjectives: prepositions, adverbs, quantifiers, pronouns.
_NO_ADJECTIVES = word_set(
    """
    über unter hinter gegen neben wegen außer ohne heute gerne immer wieder aber oder leider bitte
    morgen gestern alle allen aller alles viele vielen vieler jede jeden jeder jedes jedem diese diesen
    dieser dieses diesem meine meinen deine seine seinen seiner ihre ihren ihrer unsere unseren unserer
    einige einigen einiger mehrere mehreren manche manchen welche welchen wenige wenigen beide beiden
    eine einen einer eines einem keine keinen keiner solche solchen andere anderen anderer anderes jene
    jenen sowie bisher daher nachher vorher selber eher innen außen oben unten drüben gegenüber sondern
    insbesondere beinahe erste ersten erster erstes nahe eben zwischen binnen während trotzen weder
    entweder später früher weiter länger ungefähre dessen deren denen hatten haben wurden werden waren
    sollten wollten konnten können müssen mussten würden könnten meisten sehr mehr einander zusammen
    besonders
    """
)
_SUBORDINATE = re.compile(
    r", (?:dass|ob|wenn|damit|nachdem|bevor|obwohl|sodass|falls|als) "
    rf"(?P<subject>{_PRONOUN}|(?:der|die|das|ein|eine) {_NOUN})"
    rf"(?P<middle>(?: {_WORD}){{1,9}}?) (?P<verb>{_FINITE})(?=[.,!?;])"
)
_BRACKET = re.compile(
    r"\b(?P<aux>habe|hat|haben|hatte|hatten|kann|können|konnte|muss|müssen|musste"
    r"|soll|sollen|sollte|will|wollen|wird|wurde|wurden)"
    rf"(?P<pronoun> (?:{_PRONOUN}))?(?P<middle>(?: {_WORD}){{2,9}}) (?P<verb>[a-zäöüß]+)(?=[.!;])"
)
_PARTICIPLE = re.compile(
    r"(?:\w*ge\w{2,}(?:t|en)|(?:be|er|ver|zer|ent|emp|miss|über|unter)\w{2,}(?:t|en)|\w{2,}iert)$"
)
# A phrase with a preposition may stand behind the bracket, so that it must not be all that is left there.
_EXTRAPOSED = re.compile(
    r" (?:a[mn]|ans|auf|aus|bei|beim|bis|durch|für|gegen|im|in|ins|mit|nach|ohne|seit|um|unter|über|vo[nmr]"
    r"|wegen|wie|zu|zum|zur|zwischen|während|neben|hinter)\b"
)
_INFINITIVE = re.compile(r"\w{2,}(?:en|ern|eln)$")
_FRONTED = re.compile(
    r"(?:(?<=^)|(?<=[.!?] ))(?P<first>Heute|Dann|Danach|Jetzt|Leider|Gestern|Morgen|Dort|Hier|Deshalb|Daher"
    r"|Trotzdem|Außerdem|Schließlich|Später|Inzwischen|Allerdings|Natürlich|Dabei|Dadurch|Damit"
    r"|Deswegen|Zudem|Vielleicht|Manchmal"
    r"|Normalerweise|Eigentlich|Nun|So|Somit|Bisher|Zuerst|Zunächst|Anschließend|Plötzlich|Oft|Darüber hinaus"
    r"|Glücklicherweise|Tatsächlich|Jedoch|Letztes Jahr|Letzte Woche)"
    rf" (?P<verb>[a-zäöüß]+) (?P<subject>{_PRONOUN})(?= )"
)
_NEGATED = re.compile(
    rf"\b(?P<verb>{_FINITE}|weiß|wissen|gibt|geht|kommt|macht|glaube|funktioniert) (?P<not>nicht)(?= {_WORD})"
)
_ADJECTIVE = re.compile(
    rf"(?<![\w-])(?P<article>{_ARTICLE}) (?P<adjective>[a-zäöüß]{{3,}}(?:e|en|er|es|em))"
    rf" (?P<noun>{_NOUN})(?=[ .,!?;:])(?! [A-ZÄÖÜ(])"
)


def german_moves(text: str) -> list[list[Change]]:
    """Moves by kind, best kinds first: each a list of single changes that leave a German order error.

    The kinds are the finite verb drawn out of a subordinate clause's end, the participle or infinitive drawn
    to its auxiliary, no inversion after a fronted adverb, ``nicht`` before its finite verb, and an adjective
    behind its noun.
    """
    return [
        [change for found in _SUBORDINATE.finditer(text) if (change := _verb_second(found))],
        [change for found in _BRACKET.finditer(text) if (change := _closed_bracket(text, found))],
        [
            Change(found.start("verb"), found.end("subject"), f"{found['subject']} {found['verb']}")
            for found in _FRONTED.finditer(text)
            if found["verb"].endswith(("t", "e", "n", "st", "ß")) or re.fullmatch(_FINITE, found["verb"])
        ],
        [
            Change(found.start("verb"), found.end("not"), f"nicht {found['verb']}")
            for found in _NEGATED.finditer(text)
            if found["verb"] not in ("haben", "werden", "können")
        ],
        [
            Change(found.start("adjective"), found.end("noun"), f"{found['noun']} {found['adjective']}")
            for found in _ADJECTIVE.finditer(text)
            if found["adjective"] not in _NO_ADJECTIVES
        ],
    ]


def _verb_second(found: re.Match[str]) -> Change | None:
    """``dass er nach Hause gegangen ist`` → ``dass er ist nach Hause gegangen``."""
    if re.search(rf"\b(?:{_FINITE}|und|oder|zu)\b", found["middle"]):
        return None
    return Change(found.end("subject"), found.end("verb"), f" {found['verb']}{found['middle']}")


def _closed_bracket(text: str, found: re.Match[str]) -> Change | None:
    """``er hat das Buch gelesen`` → ``er hat gelesen das Buch``."""
    verb, middle = found["verb"], found["middle"]
    modal = found["aux"][:3] in ("kan", "kön", "kon", "mus", "müs", "sol", "wil", "wol", "wir")
    form = _INFINITIVE if modal else _PARTICIPLE
    if (
        not form.search(verb)
        or re.match(rf" (?:{_PRONOUN})\b", middle)
        or _EXTRAPOSED.match(middle)
        or re.search(rf"\b(?:{_FINITE}|und|oder|zu|als|dass)\b", middle)
    ):
        return None
    # A noun right behind the auxiliary may be its subject ("hat der Mann das Buch gelesen"): only where the
    # subject stands before it does the verb have one place to go.
    before = text[: found.start()].rstrip()
    if before.endswith((",", ".", "!", "?", ":", ";", "–", "-", '"', "„")) or not before:
        return None
    start = found.end("pronoun") if found["pronoun"] else found.end("aux")
    return Change(start, found.end("verb"), f" {verb}{middle}")
