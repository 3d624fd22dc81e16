"""From a question to ranked hits, by words and meaning; better nothing than something irrelevant."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.embed.embedder import Means, load_embedder
from backstory.search.answer import DEFAULT_LIMIT, Answer
from backstory.search.find import BY_WORDS, search
from backstory.search.question import question
from backstory.settings import Settings
from tests.story import House


@pytest.fixture
def house(house: House) -> House:
    story = house.session().starts()
    story.prompts("Why does the login fail with a KeyError in parse_token?").runs(
        "pytest tests/test_login.py --no-verify",
        fails="Exit code 1\nKeyError: 'exp' in auth/parse_token.py:42",
    )
    story.edits("auth/parse_token.py").stops(
        "The token had no expiry. I chose bge-small as the embedding model."
    )
    story.prompts("Rename the shopping cart to basket everywhere").stops("Renamed the cart in 14 files.")
    story.prompts("¿Dónde está la configuración del café?").stops(
        "In config/café.toml, next to Müller's notes."
    )
    house.session().prompts("Upgrade PostgreSQL to version 16.4").stops(
        "Upgraded; the migration took 3 minutes."
    )
    house.works()
    return house


def ask(house: House, question: str, **options: object) -> Answer:
    options = {"means": load_embedder(Settings()), **options}
    return search(house.store, question, None, **options)  # type: ignore[arg-type]


WORDS_ONLY = Means(why="by words only")
WAYS = pytest.mark.parametrize("way", [WORDS_ONLY, load_embedder(Settings())], ids=["words", "meaning"])


def texts(answer: Answer) -> str:
    return "\n".join(hit.text for hit in answer.hits)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("login KeyError", "KeyError"),
        ("parse_token", "parse_token"),
        ("auth/parse_token.py:42", "parse_token.py:42"),
        ("--no-verify", "--no-verify"),
        ("bge-small", "bge-small"),
        ('"bge-small"', "bge-small"),
        ("16.4", "16.4"),
        ("renaming carts", "cart"),
        ("cafe configuracion", "café"),
        ("muller", "Müller"),
        ("what did we do about the PostgreSQL version", "PostgreSQL"),
    ],
)
@WAYS
def test_words_names_paths_options_and_versions_find_themselves(
    house: House, question: str, expected: str, way: Means
) -> None:
    """CCE-53: punctuation is taken literally."""
    answer = ask(house, question, means=way)
    assert expected in answer.hits[0].text
    assert not answer.abstained


@pytest.mark.parametrize(
    "word", ["KeyError", "InvalidSignatureError", "MySQL", "mysql", "HttpClient", "mysql client"]
)
@WAYS
def test_a_word_that_stands_in_the_memory_is_found_though_nothing_else_is_asked(
    house: House, word: str, way: Means
) -> None:
    story = house.session()
    story.prompts("Why does the login fail?")
    story.runs("pytest", fails="InvalidSignatureError: the HttpClient got a KeyError from the MySQL client")
    story.stops("It is the token.")
    house.works()
    answer = ask(house, word, means=way)
    assert any(word.split()[0].lower() in hit.text.lower() for hit in answer.hits)


@pytest.mark.parametrize(
    "question", ["kubernetes ingress", "how do I bake sourdough bread at home with rye flour"]
)
@WAYS
def test_an_off_topic_question_finds_nothing(house: House, question: str, way: Means) -> None:
    """CCE-54."""
    assert ask(house, question, means=way).hits == ()


def test_sharing_one_common_word_is_not_enough_and_it_says_that_it_kept_silent(house: House) -> None:
    question = "bake sourdough bread with version control and rye flour in minutes"
    answer = ask(house, question)
    assert (answer.hits, answer.abstained, answer.withheld) == ((), True, True)
    assert ask(house, question, floor=False).hits != ()


def test_where_nothing_has_its_words_it_kept_silent_and_withholds_nothing(house: House) -> None:
    answer = ask(house, "xyzzy", means=BY_WORDS)
    assert (answer.hits, answer.abstained, answer.withheld) == ((), True, False)


@pytest.mark.parametrize("question", ["", "   ", "?!", '"', "()", "\0", "**", "- - -"])
def test_a_question_without_words_is_no_question(house: House, question: str) -> None:
    answer = ask(house, question)
    assert (answer.hits, answer.abstained) == ((), False)


def test_a_question_of_nothing_but_small_words_is_still_asked(house: House) -> None:
    """CCE-52: small words are no part of what the index is asked; alone, they are searched by meaning."""
    answer = ask(house, "what did you do", floor=False, explain=True)
    assert answer.mode.startswith("by words and meaning")
    assert any(hit.why and hit.why.found_by == "meaning" for hit in answer.hits)
    assert question("what did you do about the login", 0).phrases == ['"login"']


def test_at_most_seven_hits_are_given_and_each_thing_once(house: House) -> None:
    """CCE-55: capped by default, and by what is asked for."""
    story = house.session()
    for n in range(30):
        story.prompts(f"the lighthouse keeper number {n}", prompt_id=f"p{n}")
    for _ in range(5):
        story.prompts("the very same lighthouse")
    house.works()
    assert len(ask(house, "lighthouse").hits) == DEFAULT_LIMIT == 7
    assert len(ask(house, "lighthouse", limit=3).hits) == 3
    assert ask(house, "lighthouse", limit=0).hits == ()
    many = [hit.text for hit in ask(house, "very same lighthouse", limit=50).hits]
    assert len(many) == len(set(many))


def test_hits_come_best_first_with_a_handle_that_can_be_shown(house: House) -> None:
    answer = ask(house, "login KeyError")
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    for hit in answer.hits:
        assert house.store.events.ids_like(hit.id) == [hit.id]
        assert hit.project == "shop"
        assert hit.agent == "claude-code"
        assert hit.when > 0


def test_a_project_sees_only_its_own(house: House, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    other = house.session(cwd=elsewhere).prompts("login KeyError too").stops("Yes.")
    house.works()
    project = house.row(other).project_id
    assert {hit.session for hit in search(house.store, "login KeyError", project).hits} == {other.id}
    assert len({hit.session for hit in ask(house, "login KeyError").hits}) == 2


def test_our_own_words_are_not_found(house: House) -> None:
    story = house.session().prompts("what do we know?")
    story.runs("backstory search zeppelin", "1. the zeppelin is green")
    story.uses("mcp__backstory__search", {"query": "zeppelin"}, "the zeppelin is green")
    house.works()
    assert "zeppelin is green" not in texts(ask(house, "zeppelin green", floor=False))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(
    question=st.text(max_size=200)
    | st.sampled_from(['a" OR b', "NEAR(a b)", "text : x", "a* ^b", "NOT x AND"])
)
def test_no_question_breaks_it(house: House, question: str) -> None:
    json.dumps([hit.text for hit in ask(house, question).hits])


def test_a_very_long_question_is_answered(house: House) -> None:
    assert "KeyError" in texts(ask(house, "login KeyError " * 5_000))
