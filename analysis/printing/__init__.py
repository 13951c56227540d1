"""Sheets of any content as Markdown, text, LaTeX, CSV and JSON; nothing here knows what the numbers mean."""
