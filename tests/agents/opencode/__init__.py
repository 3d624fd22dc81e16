"""opencode, the real one, with our plugin in it."""
