"""BCP-47 language tags, normalised once, at reading."""

from __future__ import annotations

from functools import lru_cache

from challenge_sets.errors import InputError

# Names that benchmarks use and the CLDR list of names does not hold.
_OTHER_NAMES = {"classical chinese": "lzh", "chinese simplified": "zh-Hans", "chinese traditional": "zh-Hant"}


@lru_cache(maxsize=1024)
def normalise_language(spelling: str) -> str:
    """Return the BCP-47 tag for a code or an English name: ``eng`` → ``en``, ``ko_KR`` → ``ko``.

    A region that is the language's likely one is dropped (``en_US`` → ``en``, ``pt_BR`` → ``pt``);
    another is kept (``en-GB``). Chinese always carries its script: ``zh``, ``zho``, ``cmn`` and
    ``zh_CN`` are ``zh-Hans`` as in the WMT tasks, ``zh_TW`` is ``zh-Hant``. Classical Chinese is
    ``lzh``.

    Raises ``InputError`` for a language that is not in the registry.
    """
    import langcodes
    from langcodes.tag_parser import LanguageTagError

    name = spelling.strip()
    try:
        if name.lower() in _OTHER_NAMES:
            return _OTHER_NAMES[name.lower()]
        try:
            language = langcodes.Language.get(langcodes.standardize_tag(name, macro=True))
            if not language.is_valid() or language.language in (None, "und"):
                raise LookupError(name)
        except (LanguageTagError, LookupError):
            language = langcodes.find(name)
    except LookupError as error:
        raise InputError(
            f"unknown language '{spelling}'",
            hint="give a BCP-47 tag (en, de, ja, ko, zh-Hans, lzh, …) or an English name",
        ) from error
    tag = str(language.language)
    likely = language.maximize()
    if tag == "zh":
        tag = f"zh-{likely.script}"
    elif language.script:
        tag = f"{tag}-{language.script}"
    usual = langcodes.Language.get(tag).maximize().territory
    return f"{tag}-{language.territory}" if language.territory not in (None, usual) else tag


def same_language(tag: str, supported: str) -> bool:
    """Whether a normalised ``tag`` is ``supported`` or a regional variety of it (``en-GB`` is ``en``)."""
    return tag == supported or tag.startswith(supported + "-")


def language_name(tag: str) -> str:
    """English name of a normalised tag: ``zh-Hans`` → ``Chinese (Simplified)``."""
    import langcodes

    name: str = langcodes.Language.get(tag).display_name()
    return name


def split_pair(pair: str) -> tuple[str, str]:
    """Split ``en-de`` (or ``zh_CN-en``) into normalised source and target; ``InputError`` if it is no pair.

    Hyphens inside the tags are allowed where exactly one split gives two known languages.
    """
    parts = pair.split("-")
    found = []
    for cut in range(1, len(parts)):
        try:
            found.append(
                (normalise_language("-".join(parts[:cut])), normalise_language("-".join(parts[cut:])))
            )
        except InputError:
            continue
    if len(found) != 1:
        raise InputError(
            f"'{pair}' is not one language pair", hint="write SOURCE-TARGET, e.g. en-de or ko-zh_CN"
        )
    return found[0]
