"""Makes challenge sets: minimal pairs by rule, each with exactly one targeted edit."""

from perturb.base import (
    PERTURBATIONS,
    Change,
    Example,
    NotApplicableError,
    Perturbation,
    apply_changes,
    make_pair,
)

__all__ = [
    "PERTURBATIONS",
    "Change",
    "Example",
    "NotApplicableError",
    "Perturbation",
    "apply_changes",
    "make_pair",
]
