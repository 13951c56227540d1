"""The tables of the two studies that the analyses follow, laid out from any set and any scores.

``categories`` and ``metrics_used`` describe what went in; ``minimal_pairs`` lays out sensitivity as printed.
``pairs`` puts the sensitivity study together (Quinjica et al. 2026), ``documents`` the document study (Kim et
al. 2026).
"""
