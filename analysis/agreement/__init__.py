"""How far annotators agree: Cohen's kappa of two of them, Krippendorff's alpha of any number.

``kappa`` and ``alpha`` hold the coefficients, ``labels`` and ``table`` apply them to tables of labels and
of scores, ``layout`` lays the answers out.
"""
