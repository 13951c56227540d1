"""Turns scores into estimates, tests, tables and verdicts; never draws.

``statistics`` holds what is true of plain numbers, ``printing`` turns sheets into files; between them one
package a question, and a command each: ``sensitivity`` (minimal pairs), ``mixed`` (the mixed model),
``equivalence`` (TOST), ``ranking``, ``agreement``, ``annotations`` (error spans and times).
"""
