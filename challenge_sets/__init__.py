"""What the data is: records, set directories, readers of benchmark formats, the bundled set."""

from challenge_sets.errors import InputError, MissingExtraError
from challenge_sets.marked_errors import MARKED_SEVERITIES, MarkedError
from challenge_sets.records import (
    BLIND,
    KINDS,
    SCORE_COLUMNS,
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

__all__ = [
    "BLIND",
    "KINDS",
    "MARKED_SEVERITIES",
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
    "MarkedError",
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
