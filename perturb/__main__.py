"""``python -m perturb``."""

from challenge_sets.console import run
from perturb.cli import app

if __name__ == "__main__":
    run(app)
