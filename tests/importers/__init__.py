"""Switching from other memory tools: their stores, made as they make them, come over whole, once and labelled."""
