"""What annotation campaigns say: errors counted and placed, conditions compared, annotators checked.

``errors`` counts, ``boundaries`` places, ``comparison`` tests whether conditions have equally many errors,
``checks`` and ``times`` look at the people, ``judgements`` hands scores to other tools, ``study`` puts all
together and ``layout`` and ``records`` print it.
"""
