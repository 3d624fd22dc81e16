"""Tests of `backstory.store`."""
