"""``python -m metrics``."""

from challenge_sets.console import run
from metrics.cli import app

if __name__ == "__main__":
    run(app)
