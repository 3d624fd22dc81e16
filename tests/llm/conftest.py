"""A home whose user has configured a model, and the scripted model that answers it."""

import json
import re
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backstory import settings
from backstory.llm.governor import Spending, spending_report
from backstory.model import Memory, Tier
from backstory.model_pass import ModelPass
from backstory.store.records import Call
from tests.agents.model import Model
from tests.story import House, Story

Claim = dict[str, Any]


@pytest.fixture
def model() -> Iterator[Model]:
    serving = Model(socket.create_server(("127.0.0.1", 0)))
    yield serving
    serving.close()


def saying(*claims: Claim) -> str:
    """An answer of the shape that is asked for: what is to be done, as a rule something to add."""
    empty = {"do": "add", "memories": [], "kind": "", "text": "", "reason": "", "lines": []}
    session = {"goal": "", "outcome": "", "lines": [], "open": []}
    return json.dumps({"session": session, "operations": [{**empty, **claim} for claim in claims]})


def line_with(log: str, words: str) -> int:
    """The number of the line of the log that has these words."""
    for number, line in re.findall(r"(?m)^\[(\d+)\] (.*)$", log):
        if words in line:
            return int(number)
    raise AssertionError(f"no line has {words!r}:\n{log}")


class Asking:
    """A house with a model: it works, then asks, then works on what was answered."""

    def __init__(self, house: House, model: Model) -> None:
        self.house = house
        self.model = model
        self.pauses: list[float] = []
        self.pausing: Callable[[float], None] = lambda seconds: None
        house.sets("model.provider", "openai")
        house.sets("model.url", f"{model.url}/v1")
        house.sets("model.distil", "scripted-small")
        house.sets("model.prices", "scripted-small=1/5")
        house.sets("model.timeout_seconds", "5")

    def asks(self) -> int:
        """What the worker does: a round, the model, another round. Gives how many answers were kept."""
        self.house.works()
        kept = self.refine().run()
        self.house.works()
        return kept

    def refine(self) -> ModelPass:
        def pause(seconds: float) -> None:
            self.pauses.append(seconds)
            self.pausing(seconds)

        return ModelPass(self.house.home, settings.load_settings(self.house.home)[0], self.house.store, pause)

    def answers(self, *claims: Claim) -> None:
        self.model.aside("Log:", saying(*claims))

    def learned(self, story: Story) -> list[Memory]:
        """What is told of the session that a model said."""
        return [m for m in self.house.store.memories.of_session(story.id) if m.tier is Tier.MODEL]

    def calls(self) -> list[Call]:
        """The ledger, oldest first."""
        return self.house.store.ledger.latest(1_000)[::-1]

    def spending(self) -> Spending:
        return spending_report(settings.load_settings(self.house.home)[0], self.house.store)

    def log(self, number: int = -1) -> str:
        """What the model was given to read."""
        return str(self.model.requests[number].body["messages"][-1]["content"])

    def job(self, story: Story) -> tuple[str, int, str]:
        (job,) = [j for j in self.house.store.jobs.all() if (j.kind, j.subject) == ("refine", story.id)]
        return job.state, job.attempts, job.last_error


@pytest.fixture
def asking(house: House, model: Model) -> Asking:
    return Asking(house, model)


def a_session(house: House, over: bool = True) -> Story:
    """Some work that a model has something to say about."""
    story = house.session().starts().prompts("Make the importer faster, the nightly run takes an hour")
    story.reads("importer.py").runs("pytest -q tests/test_importer.py", fails="E  MemoryError\n1 failed")
    story.edits("importer.py", "rows = list(f)", "rows = iter(f)")
    story.runs("pytest -q tests/test_importer.py", "4 passed")
    story.stops("The importer streams rows now, so memory stays flat; the nightly run takes six minutes.")
    story.prompts("Good. We keep CSV as the only input format, since the bank sends nothing else.")
    story.stops("Understood: CSV stays the only input format of the importer.")
    return story.ends() if over else story
