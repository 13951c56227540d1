"""The mixed model ``delta ~ condition × metric + (1 | segment)``: one fit, every cell mean a contrast of it.

On plain arrays: ``design`` (cells, and effects as linear maps of them), ``sufficient`` (sums by cell and
segment), ``exact`` (profile likelihood of the single random intercept), ``statsmodels_engine`` (the same
model through ``MixedLM``), ``interaction`` (likelihood ratio and Wald), ``robust`` (cell means and their
interaction with cluster-robust errors, where the model's single variance is doubted), ``spread`` (whether it
is to be doubted), ``threads`` (one for all of these). On a table: ``model`` reads one, fits it and holds the
answer, ``layout`` prints it.
"""
