"""Omitted subjects and objects."""
