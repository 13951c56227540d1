"""Minimal pairs: from scores to the sensitivity table.

``scores`` (opened for a set) → ``deltas`` (joined with its pairs) → ``scaling`` → ``verdicts`` → ``table``
(as records) → ``layout`` (as sheets).
"""
