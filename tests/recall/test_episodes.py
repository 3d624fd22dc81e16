"""Which episode a question is about: stretches of sessions, and how near they are."""

from backstory.recall.episodes import NEAR, PASSAGES, Fit, by_session, episode_of, fitness, nearness
from backstory.store.passage_reader import Place, Told


def fit(row: int, score: float, session: str = "s1", turn: int = 1) -> Fit:
    """A passage that was found."""
    return Fit(score, score, Told(row, f"e{row}", 0, session, "a", "said", "said", turn, row, "text", "", ""))


def places(count: int, turn: int = 1) -> list[Place]:
    """The passages of a session with one turn; the last one closes it."""
    return [Place(row, turn, "closing" if row == count - 1 else "said") for row in range(count)]


def test_a_short_session_is_one_episode() -> None:
    episode = episode_of("s1", [fit(3, 0.9)], places(PASSAGES))
    assert episode.is_whole
    assert episode.rows == tuple(range(PASSAGES))


def test_of_a_long_session_it_is_the_stretch_in_which_most_was_said_and_its_closing() -> None:
    found = [fit(20, 1.0), *(fit(row, 0.6) for row in (200, 203, 206))]
    episode = episode_of("s1", found, places(400))
    assert not episode.is_whole
    assert [each.told.row for each in episode.fits] == [200, 203, 206]
    assert len(episode.rows) == PASSAGES + 1
    assert episode.rows[0] < 190 < 215 < episode.rows[-2]
    assert episode.rows[-1] == 399


def test_the_words_that_closed_another_turn_are_not_part_of_it() -> None:
    passages = [Place(row, 1 if row < 200 else 2, "closing" if row == 399 else "said") for row in range(400)]
    assert episode_of("s1", [fit(20, 1.0)], passages).rows[-1] < 100


def test_a_passage_that_is_gone_meanwhile_is_no_part_of_it() -> None:
    episode = episode_of("s1", [fit(999, 1.0), fit(3, 0.5)], places(100))
    assert [each.told.row for each in episode.fits] == [3]
    assert episode_of("s1", [fit(999, 1.0)], places(100)).fits == ()


def test_one_near_passage_makes_no_episode_near_but_four_do() -> None:
    assert nearness([0.7]) < NEAR < nearness([0.4] * 4)
    assert nearness([0.4] * 4 + [0.0] * 30) == nearness([0.4] * 4)


def test_sessions_come_best_first_and_memories_are_of_none() -> None:
    found = by_session([fit(1, 0.9, "one"), fit(2, 0.6, "two"), fit(3, 0.5, "two"), fit(4, 2.0, "m", turn=0)])
    assert list(found) == ["two", "one"]
    best, other = (episode_of(session, fits, places(9)) for session, fits in found.items())
    assert fitness(best, [0.3]) > fitness(other, [0.3])
