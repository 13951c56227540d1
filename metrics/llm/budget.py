"""The money of a run: what was spent, and what the calls under way may still cost."""

from __future__ import annotations

from challenge_sets import InputError
from metrics.llm.calls import Call, Usage
from metrics.llm.options import LlmOptions
from metrics.llm.prices import Price, Prices, highest_usage


class Budget:
    """Lets a call through only where the sum cannot pass the limit, whatever the call turns out to cost.

    Calls under way are counted at the most that they can cost. Raises ``InputError`` where there is a limit
    but no price to hold it with.
    """

    def __init__(self, options: LlmOptions) -> None:
        prices = None if options.prices is None else Prices.read(options.prices)
        self.price: Price | None = None if prices is None else prices.of(options.model)
        self.currency = "" if prices is None else prices.currency
        self.limit = options.max_cost
        self.spent = 0.0
        self._reserved = 0.0
        self._under_way = 0
        # How many times the most that a call should cost one did cost: not every endpoint keeps to budgets.
        self._beyond = 1.0
        if self.limit is not None and self.price is None:
            raise InputError(
                f"a limit of cost needs the price of '{options.model}'",
                path=options.prices,
                hint=f'--prices FILE.toml with [models."{options.model}"], input and output, '
                "each for a million tokens",
            )

    def cost(self, usage: Usage) -> float | None:
        """What this usage costs; ``None`` where price or usage are not known."""
        return None if self.price is None else self.price.cost(usage)

    def highest(self, call: Call) -> float:
        """The most that one attempt of a call can cost; 0 where the price is not known."""
        return 0.0 if self.price is None else self._beyond * self.price.highest(highest_usage(call))

    def admits(self, call: Call) -> bool:
        """Whether the call fits beside what was spent and what is under way."""
        return self.fits(self.highest(call))

    def fits(self, amount: float) -> bool:
        """Whether so much may be spent beside what was spent and what is under way."""
        return self.limit is None or self.spent + self._reserved + amount <= self.limit

    def charge(self, amount: float) -> None:
        """Count as spent what is not settled call by call; what turned out cheaper is given back so, too."""
        self.spent += amount

    @property
    def idle(self) -> bool:
        """Whether nothing is under way, so that waiting would free nothing."""
        return self._under_way == 0

    def reserve(self, call: Call) -> float:
        """Count an attempt that is about to be sent; give what was counted back to ``settle``."""
        amount = self.highest(call)
        self._reserved += amount
        self._under_way += 1
        return amount

    def settle(self, reserved: float, usage: Usage, *, uncounted: bool) -> None:
        """Replace what was reserved by what it cost.

        ``uncounted``: it may have been paid for, and without counts that is held to be the most it can cost.
        """
        self._under_way -= 1
        # Sums of fractions leave a rest that would never go away.
        self._reserved = self._reserved - reserved if self._under_way else 0.0
        cost = self.cost(usage)
        if cost is not None and cost > reserved > 0.0:
            self._beyond *= cost / reserved
        self.spent += cost if cost is not None else reserved if uncounted else 0.0
