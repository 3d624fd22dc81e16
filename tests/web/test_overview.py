"""The overview, sessions by what came of them, folded work, and taking back what was just done."""

import re
from datetime import date, timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest

from backstory import clock
from backstory.model import MemoryKind, MemoryStatus
from backstory.web import undo
from backstory.web.request import PageRequest
from tests.story import House
from tests.web.viewer import Viewer

_COMMIT = "git commit -m 'Rates are counted in cents'"


@pytest.fixture
def worked(house: House) -> House:
    """A house with one long session that ends in a commit."""
    story = house.session().starts().prompts("The invoice is off by a cent, please look into it")
    for number in range(12):
        story.edits(f"rates{number}.py")
    story.runs("pytest -q", fails="E       AssertionError: 19.99 != 20.00 in test_rates.py:14")
    story.edits("rates.py").runs("pytest -q").runs(_COMMIT)
    story.stops("The **rounding** was wrong: rates are counted in cents now.\n\n- one\n- two").ends()
    house.works()
    return house


def the_session(house: House) -> str:
    return house.store.events.sessions(limit=1)[0].id


def test_the_first_page_is_the_project_with_what_was_done_last(worked: House, viewer: Viewer) -> None:
    page = viewer.get("/").text
    assert f"<h1>{worked.project.name}</h1>" in page
    done, _, rest = page.partition("What was done last")[2].partition("</section>")
    assert "Committed: Rates are counted in cents" in done
    assert "Asked: The invoice is off by a cent" in done
    assert "Activity" in rest


def test_sessions_are_listed_by_what_came_of_them(worked: House, viewer: Viewer) -> None:
    page = viewer.get("/sessions").text
    assert re.search(r'class="title">Committed: Rates are counted in cents', page)


def test_a_week_shows_its_own_sessions_and_leads_to_its_neighbours(worked: House, viewer: Viewer) -> None:
    today = date.fromisoformat(clock.day_of(clock.now_ms()))
    monday = today - timedelta(days=today.weekday())
    page = viewer.get("/sessions", week=str(today)).text
    assert "Rates are counted in cents" in page
    assert f"week={monday - timedelta(days=7)}" in page
    before = viewer.get("/sessions", week=str(monday - timedelta(days=1))).text
    assert "No session fits" in before
    assert viewer.get("/sessions", week="soon").status == 400


def test_a_long_turn_is_folded_between_what_was_asked_and_how_it_ended(worked: House, viewer: Viewer) -> None:
    page = viewer.get(f"/sessions/{the_session(worked)}").text
    story = page[page.index("<article") : page.index("</article>")]
    fold = story.index('<details class="fold work">')
    assert story.index("please look into it") < fold < story.index("<strong>rounding</strong>")
    assert "1 failed" in story[fold : story.index("</summary>", fold)]
    assert "19.99 != 20.00" in story[fold:]
    assert "<li>one</li>" in story  # Markdown, as the agent wrote it


def test_where_a_turn_broke_off_its_work_stands_open(house: House, viewer: Viewer) -> None:
    story = house.session().starts().prompts("rename the fields")
    for number in range(14):
        story.edits(f"f{number}.py")
    house.works()
    assert re.search(r'<details class="fold work" open>', viewer.get(f"/sessions/{the_session(house)}").text)


def test_a_session_names_the_command_that_resumes_it(worked: House, viewer: Viewer) -> None:
    session = worked.store.events.sessions(limit=1)[0]
    page = viewer.get(f"/sessions/{session.id}").text
    assert f'data-copy="claude --resume {session.native_id}"' in page
    assert f'data-copy="backstory handoff --session {session.id[:9]}"' in page


def test_markup_in_what_an_agent_wrote_stays_text(house: House, viewer: Viewer) -> None:
    story = house.session().starts().prompts("hello")
    story.stops("Done <img src=x onerror=alert(1)> and [a link](javascript:alert(1)).").ends()
    house.works()
    page = viewer.get(f"/sessions/{the_session(house)}").text
    assert "<img" not in page
    assert 'href="javascript' not in page


def test_what_several_sessions_showed_is_told_over_time(house: House, viewer: Viewer) -> None:
    for _ in range(2):
        house.session().starts().prompts("check it").edits("a.py").runs("pytest -q").stops("Fine.").ends()
        house.works()
    command = house.store.memories.listed([MemoryKind.COMMAND], list(MemoryStatus), None, None, 5)[0]
    assert "in 2 sessions</h2>" in viewer.get(f"/memories/{command.id}").text


def undone(viewer: Viewer, mid: str, act: str) -> str:
    """Do something, follow the way back that the next page offers; what that page said."""
    where = viewer.post(f"/memories/{mid}/{act}", next="/memories?kind=decision").headers["location"]
    assert where.startswith("/memories?kind=decision&did=")
    page = viewer.get("/memories", **dict(parse_qsl(urlsplit(where).query))).text
    note = page[page.index('class="done"') :]
    form = re.search(r'action="(/memories/[^"]+)"', note)
    assert form is not None
    assert viewer.post(form[1], next="/memories").status == 303
    return note[: note.index("</span>")]


def test_what_was_just_done_can_be_taken_back(house: House, viewer: Viewer) -> None:
    story = house.session().starts().prompts("Tabs or spaces?").edits("a.py")
    story.stops("We decided to use tabs for indentation, because the linter wants them.").ends()
    house.works()
    found = house.store.memories.listed([MemoryKind.DECISION], list(MemoryStatus), None, None, 1)[0]
    for act, says in (("reject", "Rejected"), ("confirm", "Confirmed"), ("pin", "Pinned")):
        assert says in undone(viewer, found.id, act)
        kept = house.store.memories.kept(found.id)
        assert kept is not None
        assert (kept.status, kept.pinned) == (found.status, found.pinned), act


def test_an_address_that_says_something_else_was_done_shows_nothing() -> None:
    for did in ("reject", "reject~x1.restore", "explode~m1.restore", "reject~m1<b>.restore", "~m1."):
        assert undo.note(PageRequest(values={"did": did})) is None
    note = undo.note(PageRequest(values={"did": "reject~m1.forget"}))
    assert note is not None
    assert "<form" not in note
