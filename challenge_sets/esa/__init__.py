"""Campaigns of Error Span Annotation and MQM (Kocmi et al. 2024), as Appraise exports them.

``rows`` parses the CSV file, ``places`` finds out which output a row is about, ``campaign`` joins both.
"""

from challenge_sets.esa.campaign import Campaign, Protocol, Sources, read_annotators, read_campaign

__all__ = ["Campaign", "Protocol", "Sources", "read_annotators", "read_campaign"]
