"""Capture: from the hook and the agent's settings to stored events."""
