"""Estimators and tests of plain numbers; nothing here knows a metric, a set or a file."""
