"""Tests of `backstory.search`."""
