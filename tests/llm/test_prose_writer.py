"""Plain text for the wiki and for answers: the same governor, the same ledger, the other model."""

import pytest

from backstory.app import App
from backstory.atomic import lock
from backstory.knowledge_base import KnowledgeBase
from backstory.llm.governor import Refused
from backstory.llm.model_provider import Trouble
from tests.agents.model import Status
from tests.llm.conftest import Asking, a_session
from tests.story import House


@pytest.fixture
def app(house: House, asking: Asking) -> App:
    house.sets("model.compile", "scripted-large")
    return App(house.home)


def test_it_is_asked_with_the_model_of_the_wiki_and_booked_on_its_purpose(app: App, asking: Asking) -> None:
    """MEMORIA-18: the model for compilation is configured apart."""
    asking.model.aside("Describe", "It streams rows.")
    with app:
        writer = app.writer()
        assert writer is not None
        assert writer.write("compile", "Describe the importer") == "It streams rows."
    (request,) = asking.model.requests
    assert request.body["model"] == "scripted-large"
    assert "response_format" not in request.body
    (call,) = asking.calls()
    assert (call.purpose, call.model, call.session_id) == ("compile", "scripted-large", "")


def test_without_a_provider_there_is_none(house: House) -> None:
    with App(house.home) as app:
        assert app.writer() is None


def test_it_is_governed_like_everybody(app: App, house: House, asking: Asking) -> None:
    house.sets("model.day_tokens", "10")
    with App(house.home) as tight:
        writer = tight.writer()
        assert writer is not None
        with pytest.raises(Refused, match=r"model\.day_tokens"):
            writer.write("compile", "Describe the importer")
    assert asking.model.requests == []


def test_one_call_at_a_time_whoever_makes_it(house: House, asking: Asking) -> None:
    """CM-55."""
    house.sets("model.timeout_seconds", "1")
    with App(house.home) as app, lock(house.home.model_lock) as held:
        assert held
        writer = app.writer()
        assert writer is not None
        with pytest.raises(Trouble, match="another process asks"):
            writer.write("compile", "Describe the importer")


def test_a_question_is_answered_by_the_model_and_by_rules_when_it_is_down(
    house: House, asking: Asking
) -> None:
    a_session(house)
    house.works()
    with App(house.home) as app:
        library, project = KnowledgeBase(app), app.project_at(house.project)
        asking.model.fails_with(Status(500))
        down = library.ask(project, "which input format does the importer take?")
        assert down.known
        assert down.by == "rules"
        assert "answered 500" in down.note
    assert [call.purpose for call in asking.calls()] == ["ask"]
