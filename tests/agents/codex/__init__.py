"""The real Codex."""
