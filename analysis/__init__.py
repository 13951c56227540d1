"""Turns scores into estimates, tests, tables and verdicts; never draws.

From scores to a table: ``scores`` (opened for a set) → ``deltas`` (joined with its pairs) → ``scaling`` →
``estimates`` and ``significance`` → ``verdicts`` → ``sensitivity`` (the table as records) →
``sensitivity_layout`` (as sheets) → ``render`` and ``latex`` (any sheets as text).
"""
