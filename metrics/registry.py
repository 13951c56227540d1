"""Every metric by name."""

from __future__ import annotations

from challenge_sets.registry import Registry
from metrics.base import Metric

METRICS: Registry[Metric] = Registry(
    "metric",
    Metric,
    modules=("metrics.lexical", "metrics.neural.named", "metrics.judges.named", "metrics.sentinels"),
)
"""Every metric by name; ``METRICS[name](settings)`` makes one."""
