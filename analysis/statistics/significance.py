"""P-values that never become 0: logarithms of tail probabilities, Holm's correction, how they are printed."""

from __future__ import annotations

import math
from collections.abc import Sequence

LN10 = math.log(10.0)

_TRUSTED = -600.0
"""Natural log below which scipy's ``logsf`` goes through denormal numbers and then to minus infinity."""
_PRINTED_FLOOR = -300.0


def log10_t_sf(t: float, df: float) -> float:
    """Return log10 P(T > t) for Student's t with ``df`` degrees of freedom; finite for every finite ``t``.

    Infinite ``df`` stand for the normal distribution.

    In the far upper tail the probability is half the regularised incomplete beta function
    I_x(df/2, 1/2) at x = df / (df + t²) (Abramowitz and Stegun 26.5.27), whose logarithm is taken
    from its continued fraction (DLMF 8.17.22); elsewhere it is scipy's.
    """
    from scipy.stats import norm
    from scipy.stats import t as student

    if math.isinf(df):
        return float(norm.logsf(t)) / LN10
    plain = float(student.logsf(t, df))
    if t < 2.0 or plain > _TRUSTED:
        return plain / LN10
    from scipy.special import betaln

    a, b = df / 2.0, 0.5
    ratio = t / math.sqrt(df)
    # With r = t²/df, ln x = -ln(1 + r) and ln(1 - x) = -ln(1 + 1/r): neither cancels. t² may overflow.
    log_x = -math.log1p(ratio * ratio) if ratio < 1e100 else -2.0 * math.log(ratio)
    log_1_minus_x = -math.log1p((1.0 / ratio) ** 2)
    head = a * log_x + b * log_1_minus_x - math.log(a) - float(betaln(a, b))
    return (head + math.log(_beta_fraction(a, b, math.exp(log_x))) - math.log(2.0)) / LN10


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of I_x(a, b), by Lentz's method; fast for x < (a + 1) / (a + b + 2).

    With b = 1/2 that is t² > 3 df / (df + 2), so always for t ≥ 2.
    """
    tiny = 1e-300
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0), tiny)
    value = d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _away_from_zero(1.0 + term * d, tiny)
            c = _away_from_zero(1.0 + term / c, tiny)
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _away_from_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny


def log10_p_two_sided(t: float, df: float) -> float:
    """Log10 of the two-sided p-value of ``t`` under Student's t; at most 0."""
    return min(0.0, math.log10(2.0) + log10_t_sf(abs(t), df))


def log10_chi2_sf(chi2: float, df: float) -> float:
    """Return log10 P(X > chi2) for a chi-square variable; finite for every finite ``chi2``.

    The upper incomplete gamma function Q(df/2, chi2/2); far out its logarithm is taken from the continued
    fraction (DLMF 8.9.2), elsewhere it is scipy's.
    """
    from scipy.special import gammaln
    from scipy.stats import chi2 as chi_square

    if chi2 <= 0.0:
        return 0.0
    plain = float(chi_square.logsf(chi2, df))
    a, x = df / 2.0, chi2 / 2.0
    if plain > _TRUSTED or x < a + 1.0:
        return plain / LN10
    return (a * math.log(x) - x - float(gammaln(a)) + math.log(_gamma_fraction(a, x))) / LN10


def _gamma_fraction(a: float, x: float) -> float:
    """The continued fraction of Γ(a, x) e^x x^-a, by Lentz's method; fast for x > a + 1."""
    tiny = 1e-300
    b = x + 1.0 - a
    c, d = 1.0 / tiny, 1.0 / b
    value = d
    for n in range(1, 10_000):
        term = -n * (n - a)
        b += 2.0
        d = 1.0 / _away_from_zero(term * d + b, tiny)
        c = _away_from_zero(b + term / c, tiny)
        value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def log10_f_sf(f: float, df1: float, df2: float) -> float:
    """Return log10 P(X > f) for Fisher's F; finite for every finite ``f``.

    The regularised incomplete beta function I_x(df2/2, df1/2) at x = df2 / (df2 + df1 f) (Abramowitz and
    Stegun 26.6.2); far out its logarithm is taken from the continued fraction, elsewhere it is scipy's.
    """
    from scipy.special import betaln
    from scipy.stats import f as fisher

    if f <= 0.0:
        return 0.0
    plain = float(fisher.logsf(f, df1, df2))
    a, b = df2 / 2.0, df1 / 2.0
    ratio = df1 * f / df2
    x = 1.0 / (1.0 + ratio)
    if plain > _TRUSTED or x >= (a + 1.0) / (a + b + 2.0):
        return plain / LN10
    head = -a * math.log1p(ratio) - b * math.log1p(1.0 / ratio) - math.log(a) - float(betaln(a, b))
    return (head + math.log(_beta_fraction(a, b, x))) / LN10


def benjamini_hochberg(log10_p: Sequence[float | None]) -> list[float | None]:
    """Adjust a family of p-values for the false discovery rate, on log10 p; ``None`` as in ``holm``.

    Source: Benjamini and Hochberg 1995, Journal of the Royal Statistical Society B 57(1).
    """
    members = sorted((value, place) for place, value in enumerate(log10_p) if value is not None)
    adjusted: list[float | None] = [None] * len(log10_p)
    lowest = 0.0
    for rank in range(len(members), 0, -1):
        value, place = members[rank - 1]
        lowest = min(lowest, value + math.log10(len(members) / rank))
        adjusted[place] = lowest
    return adjusted


def holm(log10_p: Sequence[float | None]) -> list[float | None]:
    """Adjust a family of p-values by Holm's step-down procedure, on log10 p so that tiny ones stay apart.

    ``None`` (no test was possible) is no member of the family and stays ``None``. The order is kept.
    Source: Holm 1979, Scandinavian Journal of Statistics 6(2).
    """
    members = sorted((value, place) for place, value in enumerate(log10_p) if value is not None)
    adjusted: list[float | None] = [None] * len(log10_p)
    highest = -math.inf
    for rank, (value, place) in enumerate(members):
        highest = max(highest, min(0.0, value + math.log10(len(members) - rank)))
        adjusted[place] = highest
    return adjusted


def p_text(log10_p: float) -> str:
    """Print a p-value given as log10: ``0.034``, ``4.2e-17`` or ``<1e-300``, never ``0``."""
    if log10_p < _PRINTED_FLOOR:
        return f"<1e{_PRINTED_FLOOR:.0f}"
    if log10_p >= -3.0:
        return f"{10.0**log10_p:.3f}"
    exponent = math.floor(log10_p)
    mantissa = f"{10.0 ** (log10_p - exponent):.1f}"
    return f"1.0e{exponent + 1}" if mantissa == "10.0" else f"{mantissa}e{exponent}"


def stars(log10_p: float | None) -> str:
    """``***`` below 0.001, ``**`` below 0.01, ``*`` below 0.05, else nothing."""
    if log10_p is None:
        return ""
    return "*" * sum(log10_p < math.log10(bound) for bound in (0.05, 0.01, 0.001))
