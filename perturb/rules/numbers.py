"""Numbers, units and dates."""
