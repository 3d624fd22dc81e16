"""Copilot CLI, the real one, from the first prompt to the next session's first request."""
