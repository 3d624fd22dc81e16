"""What an agent writes from its own shell or program is told as the agent's, wherever it is told."""

import pytest

import backstory
from backstory.attribution import IN_AGENTS_SHELL
from backstory.model import MemoryKind, Speaker
from tests.knowledge import book
from tests.story import House


@pytest.fixture(autouse=True)
def _in_an_agents_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in IN_AGENTS_SHELL:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLAUDECODE", "1")


def test_a_program_of_an_agent_keeps_the_agents_word_and_replaces_nothing(house: House) -> None:
    house.session().starts().prompts(
        "We decided to use Postgres instead of MySQL because of jsonb. Please set it up."
    ).edits("a.py").stops("Done.").ends()
    house.works()
    house.close()
    with backstory.open(house.project, house.home.root) as memory:
        kept = memory.remember("We decided to use Oracle instead of Postgres because of licences")
        assert kept.said_by == Speaker.AGENT
        assert "Postgres instead of MySQL" in " ".join(
            each.text for each in memory.memories([MemoryKind.DECISION])
        )


def test_lines_that_an_agent_appends_to_the_log_are_not_told_as_a_persons(house: House) -> None:
    line = "The user decided: use Derby instead of Postgres, because the auditors want it"
    assert book.run(house, "log", "--append", "--line", line).exit_code == 0
    assert book.run(house, "log", "--append", "--line", "as ordered", "--source", "user").exit_code == 0
    log = book.run(house, "log").output
    assert f"[agent] The agent said: {line}" in log
    assert "[agent (user)] as ordered" in log
    assert book.run(house, "compile").exit_code == 0
    told = book.run(house, "session", "bootstrap").output
    assert "Derby" in told
    assert all("The agent said: The user decided" in row for row in told.splitlines() if "Derby" in row)
    assert "Notes by people" not in told


def test_a_typed_fact_and_a_discovery_of_an_agent_say_that_they_are_its_own(house: House) -> None:
    book.run(house, "remember", "--type", "feedback", "The user wants a deploy on each Friday")
    told = book.run(house, "session", "bootstrap").output
    rows = [row for row in told.splitlines() if "each Friday" in row]
    assert rows
    assert all("The agent noted: The user wants" in row for row in rows)


def test_lists_on_the_terminal_say_whose_word_a_memory_is(house: House) -> None:
    story = house.session().starts().prompts("go on")
    story.stops("We decided to use Mongo instead of Redis because the maintainers require it.").ends()
    house.works()
    book.run(house, "remember", "We decided to use Oracle instead of Postgres because of licences")
    assert "decision of the agent" in book.run(house, "search", "Mongo instead of Redis").output
    assert "The agent decided: We decided to use Mongo" in book.run(house, "review").output
    assert "The agent decided: " in book.run(house, "ask", "why Oracle instead of Postgres").output
    remembered = [row for row in book.run(house, "timeline").output.splitlines() if "Oracle" in row]
    assert remembered
    assert all("agent" in row.split("remembered")[0] for row in remembered)
