"""Wrong words: lexical errors, titles of rank."""
