"""Untranslated, repeated and added material."""
