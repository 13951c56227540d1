"""Scores anything: one class per metric family, the runner and the score store."""

from metrics.base import Metric, MetricAbout
from metrics.marked import MarkedText, read_marked_errors
from metrics.registry import METRICS
from metrics.requests import Answer, ModelOptions, Request, Settings
from metrics.tables import ScoredMetric, ScoresAbout, read_about, read_scores

__all__ = [
    "METRICS",
    "Answer",
    "MarkedText",
    "Metric",
    "MetricAbout",
    "ModelOptions",
    "Request",
    "ScoredMetric",
    "ScoresAbout",
    "Settings",
    "read_about",
    "read_marked_errors",
    "read_scores",
]
