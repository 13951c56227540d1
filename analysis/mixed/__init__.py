"""The mixed model ``delta ~ condition × metric + (1 | segment)``: one fit, every cell mean a contrast of it.

``table`` reads and codes long tables, ``model`` fits one and holds the answer. Beneath them, on plain arrays:
``exact`` (profile likelihood of the single random intercept), ``statsmodels_engine`` (the same model through
``MixedLM``), ``interaction`` (likelihood ratio and Wald), ``robust`` (cell means and their interaction with
cluster-robust errors, where the model's single variance is doubted). Import from these modules: most need
scipy, which the package itself does not load.
"""
