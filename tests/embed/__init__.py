"""Tests of `backstory.embed`."""
