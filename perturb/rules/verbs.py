"""Tense and negation."""
