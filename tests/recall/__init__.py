"""Tests of `backstory.recall`."""
