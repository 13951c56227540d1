"""Names: replaced, reformatted, annotated."""
