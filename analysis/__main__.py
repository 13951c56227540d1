"""``python -m analysis``."""

from analysis.cli import app
from challenge_sets.console import run

run(app)
