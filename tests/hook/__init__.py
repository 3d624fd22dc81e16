"""The hook path, with real shells and real processes."""
