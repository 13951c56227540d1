"""LLM judges: prompt sets, what is asked, and how an answer is read."""
