"""The commands of ``python -m analysis``, one module each: options, one call, output."""
