import pytest

from challenge_sets import InputError
from challenge_sets.languages import language_name, normalise_language, same_language, split_pair


@pytest.mark.parametrize(
    ("spelling", "tag"),
    [
        ("en", "en"),
        ("eng", "en"),
        ("en_US", "en"),
        ("en-GB", "en-GB"),
        ("English", "en"),
        ("ko_KR", "ko"),
        ("Korean", "ko"),
        ("deu", "de"),
        ("ger", "de"),
        ("zh", "zh-Hans"),
        ("zho", "zh-Hans"),
        ("cmn", "zh-Hans"),
        ("zh_CN", "zh-Hans"),
        ("zh-TW", "zh-Hant"),
        ("zh-Hans", "zh-Hans"),
        ("Chinese Simplified", "zh-Hans"),
        ("lzh", "lzh"),
        ("Classical Chinese", "lzh"),
        ("Literary Chinese", "lzh"),
        ("pt_BR", "pt"),
        ("pt-PT", "pt-PT"),
        (" ja ", "ja"),
    ],
)
def test_one_spelling_of_every_language(spelling: str, tag: str) -> None:
    assert normalise_language(spelling) == tag
    assert normalise_language(tag) == tag


@pytest.mark.parametrize("spelling", ["", "xx", "und", "Elvish-ish", "en-de-fr-x", "123"])
def test_unknown_language(spelling: str) -> None:
    with pytest.raises(InputError, match="unknown language"):
        normalise_language(spelling)


@pytest.mark.parametrize(
    ("pair", "tags"),
    [
        ("en-de", ("en", "de")),
        ("ko-zh_CN", ("ko", "zh-Hans")),
        ("zh-Hans-en", ("zh-Hans", "en")),
        ("en-zh-Hant", ("en", "zh-Hant")),
    ],
)
def test_pairs(pair: str, tags: tuple[str, str]) -> None:
    assert split_pair(pair) == tags


@pytest.mark.parametrize("pair", ["en", "", "en-xx", "-de"])
def test_no_pair(pair: str) -> None:
    with pytest.raises(InputError, match="not one language pair"):
        split_pair(pair)


def test_varieties_and_names() -> None:
    assert same_language("en-GB", "en")
    assert not same_language("en", "en-GB")
    assert not same_language("eng", "en")
    assert language_name("zh-Hans") == "Chinese (Simplified)"
