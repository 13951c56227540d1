"""Word lists of the rules that need no parse, and what they share in reading plain text."""
