"""``python -m challenge_sets``."""

from challenge_sets.cli import app
from challenge_sets.console import run

if __name__ == "__main__":
    run(app)
