"""When nothing can be stored, the next session is told, though the database cannot tell it."""

import subprocess
import sys

from tests.story import House


def worker(house: House) -> int:
    return subprocess.run([sys.executable, "-m", "backstory.worker", str(house.home.root)]).returncode


def test_a_dead_store_is_told_in_the_next_brief_and_forgotten_when_it_lives_again(house: House) -> None:
    story = house.session()
    story.starts().prompts("fix the login").edits("auth.py").stops("Done.")
    house.works()
    assert "could not store" not in house.brief().text
    house.close()
    whole = house.home.database.read_bytes()
    for path in house.home.root.glob("backstory.db*"):
        path.unlink()
    house.home.database.write_bytes(b"garbage" * 1000)
    story.prompts("and now?").stops("Well.")

    assert worker(house) != 0
    told = house.brief()
    assert "Backstory could not store anything" in told.text
    assert "auth.py" in told.text, "what was prepared is given all the same"

    house.home.database.write_bytes(whole)
    assert worker(house) == 0
    assert "could not store" not in house.brief().text
