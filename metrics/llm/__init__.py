"""Calls to a large language model behind an OpenAI-compatible endpoint: asked once, kept, paid for once.

``options.LlmOptions`` says whom to ask, ``log.CallLog`` keeps what was answered, and
``client.Client(options, log).ask(calls)`` gives replies to ``calls.Call`` objects as they come.
"""
