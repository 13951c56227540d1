"""What the data is: records, set directories, readers of benchmark formats, the bundled set."""

from challenge_sets.errors import InputError, MissingExtraError
from challenge_sets.records import (
    KINDS,
    SEVERITIES,
    SIDES,
    STATUSES,
    Edit,
    Generator,
    Kind,
    Pair,
    Score,
    Severity,
    Side,
    Span,
    Status,
    Translation,
    Turn,
    Unit,
    Vetting,
)
from challenge_sets.report import DataReport
from challenge_sets.sets import ChallengeSet, SetWriter

BLIND = "blind by construction"
"""How the reason of a score starts that the metric could not have told from the pair's other side."""

SCORE_COLUMNS = (
    "metric",
    "signature",
    "unit",
    "pair",
    "side",
    "item",
    "system",
    "doc",
    "condition",
    "value",
    "raw",
    "status",
    "reason",
)
"""Columns of ``scores.csv``, one row a score."""

__all__ = [
    "BLIND",
    "KINDS",
    "SCORE_COLUMNS",
    "SEVERITIES",
    "SIDES",
    "STATUSES",
    "ChallengeSet",
    "DataReport",
    "Edit",
    "Generator",
    "InputError",
    "Kind",
    "MissingExtraError",
    "Pair",
    "Score",
    "SetWriter",
    "Severity",
    "Side",
    "Span",
    "Status",
    "Translation",
    "Turn",
    "Unit",
    "Vetting",
]
