"""What a prompt settles by the names in it alone, even where it opens a session; tasks settle nothing."""

import pytest

from backstory.distil.matters import read_matter
from backstory.distil.succession import in_full, supersedes
from backstory.model import Draft, MemoryKind
from tests.distil import of

WORK = "edit a.py\n  - x\n  + y\nsaid\n  Done.\nend\n"
TALK = "> How should we do it?\nsaid\n  Either way works.\nend\n"
SETTLES = [
    "Switch from RabbitMQ to NATS for the event bus, RabbitMQ's memory alarms killed us twice.",
    "We decided to switch from RabbitMQ to NATS for the event bus.",
    "Let's replace RabbitMQ with NATS.",
    "From now on we use 4 spaces for indentation.",
    "We're dropping Redux, Zustand it is.",
    "Let's use Postgres for the users table.",
    "Use Postgres for the users table.",
    "Drop Redux in favour of Zustand.",
    "Move to Fly.io from Heroku.",
    "We no longer use npm, we use pnpm.",
    "Use pnpm instead of npm.",
    "Let's use Mattermost instead of Zulip for the team chat.",
    "Switch from Zulip to Mattermost for the team chat.",
    "We decided on Fly for hosting instead of Heroku.",
    "We chose Postgres over MySQL.",
    "Please migrate from Jest to Vitest.",
    "Migrate the API from Flask to FastAPI.",
    "Wir nutzen Postgres statt MySQL.",
    "Ersetze MySQL durch Postgres.",
    "use RS256, not HS256",
    "We stop using Redux.",
    "Switch from RabbitMQ to NATS JetStream.",
    "Switch from Mailgun to Amazon SES, it is cheaper.",
    "Let's sign tokens with EdDSA instead of RS256.",
    "Sign tokens with EdDSA instead of RS256 from now on.",
    "let's write migrations with Atlas instead of Flyway",
    "Let's switch the queue to NATS, RabbitMQ is going away",
    "Decision: NATS for the event queue, RabbitMQ is history",
    "Sessions go into Postgres now, we drop Redis.",
    "MongoDB was a mistake, go with Postgres because we need transactions.",
    "We're moving to pnpm, yarn is too slow.",
]
TASKS = [
    "add the login page",
    "use the existing helper in utils.py",
    "switch to the main branch",
    "Switch from main to develop and rebase",
    "Replace UserService with AccountService",
    "Replace the print statements with logging calls",
    "Replace Button with IconButton in Header",
    "Replace foo with bar in the parser",
    "Replace MySQL with Postgres in docker-compose.yml",
    "Use pytest instead of unittest in this test",
    "Use Redis for the lock in api/locks",
    "Move the tests from src to tests",
    "Change the color from red to blue",
    "Use Python to parse the log file",
    "Use docker to run the tests",
    "Use the Postgres container for the tests",
    "Replace the png with an svg",
    "Move the Settings link from Header to Sidebar",
    "We use Heroku for hosting. The deploy fails, fix it.",
    "Convert data.csv to JSON",
    "Convert this function from JavaScript to TypeScript",
    "Should we switch from RabbitMQ to NATS?",
    "Maybe use Postgres instead of MySQL",
    "Try Postgres instead of MySQL for the queue",
    "Remove the unused imports",
    "Drop the users table",
    "Move the modal to the Settings page",
    "Use less memory for the cache",
    "Write a migration that moves users from MySQL to Postgres",
    "Compare Postgres with MySQL for the users table",
    "Use a dictionary instead of a list for the lookup",
    "Use map instead of a for loop",
    "use async instead of callbacks in the client",
    "Switch from Monday to Tuesday for the release",
    "Rename Foo to Bar",
    "Use Bob's account instead of Anna's for the demo",
    "Replace Alice with Bob in the fixture",
    "switch the theme from light to dark",
    "If we use Postgres instead of MySQL the tests break",
    "Let's use the Redis client for the lock",
    "Replace Express Checkout with Quick Checkout",
    "The staging service uses MySQL instead of Postgres, look into it",
    "Sort the list with quicksort instead of bubble sort",
    "Render Header instead of Sidebar",
    "Load the image with PNG instead of JPEG in the demo",
    "Postgres is dead on CI, restart the container and rerun",
    "Docker is too slow on my machine, profile the build",
    "Redis is slow, profile the lookups",
]


def decided(prompt: str, before: str = "", after: str = WORK) -> list[Draft]:
    return of(MemoryKind.DECISION, f"{before}> {prompt}\n{after}")


def test_most_first_prompts_that_name_what_they_give_up_are_decisions() -> None:
    """Without a reason only what is known by name and given up for another; `test_decisions` has the reasons."""
    found = [prompt for prompt in SETTLES if decided(prompt)]
    assert len(found) >= 21, sorted(set(SETTLES) - set(found))


@pytest.mark.parametrize("prompt", TASKS)
def test_a_first_prompt_that_is_only_a_task_decides_nothing(prompt: str) -> None:
    assert decided(prompt) == []


def test_the_name_of_a_hash_is_no_because() -> None:
    (draft,) = decided("We decided to hash passwords with bcrypt because it is everywhere.")
    assert (draft.text, draft.reason) == (
        "We decided to hash passwords with bcrypt",
        "because it is everywhere.",
    )


def test_what_the_user_took_back_settled_nothing() -> None:
    changed_mind = f"{WORK}> On second thought, forget about NATS.\nsaid\n  ok\nend\n"
    assert decided("Switch from RabbitMQ to NATS for the event bus.", after=changed_mind) == []


@pytest.mark.parametrize("before", ["", TALK], ids=["first prompt", "second prompt"])
@pytest.mark.parametrize(
    ("task", "choice"),
    [
        ("Please add the login page.", "We decided to use Postgres for the users table."),
        ("Write the migration.", "We chose Postgres over MySQL."),
        ("Remove the old form.", "The team settled on Stripe for payments."),
    ],
)
def test_the_decision_is_the_sentence_that_decides_not_the_task_beside_it(
    before: str, task: str, choice: str
) -> None:
    for prompt in (f"{task} {choice}", f"{choice} {task}"):
        (draft,) = decided(prompt, before)
        assert (draft.text, draft.reason) == (choice, "")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Use npm", "Use pnpm instead of npm."),
        ("Use Redux for state", "Drop Redux in favour of Zustand."),
        ("Sign the tokens with HS256", "use RS256, not HS256"),
        ("We use Heroku for hosting", "We decided on Fly.io for hosting instead of Heroku."),
    ],
)
def test_what_it_was_preferred_to_counts_wherever_it_is_told(older: str, newer: str) -> None:
    (draft,) = decided(newer)
    assert supersedes(read_matter(in_full(draft.text, draft.reason)), read_matter(older))
    assert in_full("Use Redis", "because it is fast, not slow") == "Use Redis"
