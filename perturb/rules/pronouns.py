"""Wrong pronouns."""
