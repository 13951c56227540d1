"""Reading the answers of judges: what each one says, or why it says nothing that counts."""

from metrics.judges.reading.answers import read_answer

__all__ = ["read_answer"]
