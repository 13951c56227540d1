"""Draws: plots and the HTML report, composed from what the other rooms computed."""
