"""Scores anything: one class per metric family, the runner and the score store."""

from metrics.base import Metric, MetricAbout
from metrics.registry import METRICS
from metrics.requests import Answer, Request, Settings
from metrics.tables import ScoredMetric, ScoresAbout, read_about, read_scores

__all__ = [
    "METRICS",
    "Answer",
    "Metric",
    "MetricAbout",
    "Request",
    "ScoredMetric",
    "ScoresAbout",
    "Settings",
    "read_about",
    "read_scores",
]
