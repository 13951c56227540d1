"""Calls to a large language model behind an OpenAI-compatible endpoint: asked once, kept, paid for once."""
