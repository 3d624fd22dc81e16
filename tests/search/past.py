"""Sessions of days gone by."""

import itertools
import time

import pytest

from tests.story import CLOCK, House

DAY = 86_400


def aged(house: House, *days_and_texts: tuple[float, str]) -> None:
    """Prompts that were made so many days ago, oldest first."""
    for days, text in days_and_texts:
        with pytest.MonkeyPatch.context() as patch:
            steps = itertools.count(int((time.time() - days * DAY) * 1e9), 10**6)
            patch.setattr(CLOCK, "tick", lambda steps=steps: next(steps))
            house.session().prompts(text).stops("Done.")
    house.works()
