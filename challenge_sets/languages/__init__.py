"""Languages: one spelling of every tag, and the analysers that need to know the language."""

from challenge_sets.languages.tags import language_name, normalise_language, same_language, split_pair

__all__ = ["language_name", "normalise_language", "same_language", "split_pair"]
