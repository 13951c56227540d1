"""Scores anything: one class per metric family, the runner and the score store."""
