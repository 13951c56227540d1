"""Turns scores into estimates, tests, tables and verdicts; never draws."""
