"""Backstory: one memory for every coding agent."""

__version__ = "0.1.0"
