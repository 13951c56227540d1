"""Names, titles and contrasting words of the lexicon: tables, and where they apply in a parsed text."""
