"""Punctuation, casing and typing errors."""
