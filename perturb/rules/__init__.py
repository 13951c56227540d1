"""The rule-made categories, one module a family; each registers itself."""
