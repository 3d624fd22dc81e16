"""pi, the real one, with our extension in it."""
