"""Clause and punctuation changes that keep the words."""
