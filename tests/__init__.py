"""Tests mirror the source. `story.py` tells sessions as hooks would leave them; each folder has its own stage."""
