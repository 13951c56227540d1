"""Metrics that a model computes: COMET, CometKiwi, XCOMET, MetricX. Nothing heavy loads before its use."""
