"""What the worker prepares for the next session: rows of the project, the session's own, and notices."""

import json
from pathlib import Path
from typing import Any

import pytest

from backstory import clock
from backstory.model import Draft, MemoryKind, Tier
from backstory.recall import prepare
from tests.story import House, Story


def project_file(house: House, story: Story) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (house.home.briefs / f"{house.row(story).project_id}.json").read_text()
    )
    return found


def session_file(house: House, story: Story) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((house.home.briefs / "sessions" / f"{story.id}.json").read_text())
    return found


def rows(house: House, story: Story, section: str) -> list[str]:
    return [row["text"] for row in project_file(house, story)["rows"] if row["section"] == section]


def decide(house: House, story: Story, *drafts: Draft) -> None:
    """Put memories beside the distilled ones and prepare the brief again."""
    session = house.row(story)
    with house.store.transaction():
        for draft in drafts:
            house.store.memories.add(session, draft, Tier.RULES, "test")
    prepare.project_file(house.home, house.store, session.project_id)


@pytest.fixture
def story(house: House) -> Story:
    told = house.session().starts().prompts("fix the login").edits("auth.py").stops("Done.")
    house.works()
    return told


class TestProject:
    def test_it_holds_where_we_left_off_first(self, house: House, story: Story) -> None:
        """CCE-62."""
        assert project_file(house, story)["name"] == "shop"
        (last,) = rows(house, story, "left_off")
        assert "fix the login" in last
        later = house.session().prompts("write the docs").writes("docs.md").stops("Written.")
        house.works()
        assert "write the docs" in rows(house, later, "left_off")[0]
        assert "fix the login" in rows(house, later, "others")[0]

    def test_a_mere_chat_does_not_push_the_work_aside(self, house: House, story: Story) -> None:
        chat = house.session().prompts("what is a monad?").stops("A burrito.")
        house.works()
        assert "fix the login" in rows(house, chat, "left_off")[0]
        assert "monad" in rows(house, chat, "others")[0]

    def test_up_to_five_decisions_with_reasons_cut_to_200_characters(
        self, house: House, story: Story
    ) -> None:
        """CCE-62."""
        decide(
            house,
            story,
            *(
                Draft(
                    MemoryKind.DECISION,
                    f"d{n}",
                    f"use number {n}",
                    n,
                    ("e1",),
                    reason="since " + "long " * 100,
                )
                for n in range(9)
            ),
        )
        found = rows(house, story, "decisions")
        assert [text.partition(" (")[0] for text in found] == [
            f"Decided: use number {n}" for n in (8, 7, 6, 5, 4)
        ]
        for text in found:
            reason = text.partition(" (")[2].rstrip(")")
            assert 150 < len(reason) <= 200

    def test_who_said_it_is_told(self, house: House, story: Story) -> None:
        kinds = {MemoryKind.DECISION: "decisions", MemoryKind.PREFERENCE: "prefs", MemoryKind.FACT: "prefs"}
        for kind in kinds:
            for who in ("user", "assistant"):
                decide(
                    house,
                    story,
                    Draft(kind, f"{kind}{who}", f"{kind.value} of {who}", 5, ("e1",), said_by=who),
                )
        assert set(rows(house, story, "decisions")) == {
            "The user decided: decision of user",
            "The agent decided: decision of assistant",
        }
        assert "The user wants: preference of user" in rows(house, story, "prefs")
        assert "Told to remember: fact of user" in rows(house, story, "prefs")

    def test_the_weighty_come_before_the_new_and_repeats_are_told_once(
        self, house: House, story: Story
    ) -> None:
        decide(
            house,
            story,
            Draft(MemoryKind.LESSON, "a", "old and weighty", 1, ("e1",), weight=3.0),
            Draft(MemoryKind.LESSON, "b", "new and light", 9, ("e1",), weight=0.5),
            Draft(MemoryKind.LESSON, "c", "New  and LIGHT", 8, ("e1",), weight=0.5),
        )
        assert rows(house, story, "failed") == ["old and weighty", "new and light"]

    def test_every_row_has_a_handle_an_age_and_an_origin(self, house: House, story: Story) -> None:
        for row in project_file(house, story)["rows"]:
            assert row["id"].startswith("m")
            assert row["at"] > 0
            assert row["agent"] == "claude-code"
            assert row["session"] == story.id

    def test_a_brand_new_project_gets_an_empty_brief(self, house: House, tmp_path: Path) -> None:
        """CCE-63."""
        assert house.brief(tmp_path).text == ""
        story = house.session(cwd=tmp_path).starts()
        house.works()
        assert house.row(story).event_count == 1
        assert house.brief(tmp_path).text == ""

    def test_sub_agents_do_not_speak_for_the_project(self, house: House, story: Story) -> None:
        child = story.prompts("look").delegates()
        child.runs("grep zeppelin", fails="Exit code 1\nno zeppelin").stops("No zeppelin here.")
        story.stops("Nothing.")
        house.works()
        assert "zeppelin" not in json.dumps(project_file(house, story)["rows"])
        assert not (house.home.briefs / "sessions" / f"{child.id}.json").exists()


class TestSession:
    def test_it_holds_the_checkpoint_and_when_the_session_last_spoke(
        self, house: House, story: Story
    ) -> None:
        held = session_file(house, story)
        assert held["last_at"] == house.row(story).last_at
        story.starts("resume")  # this start is being answered: it is not the session's last word
        house.works()
        assert session_file(house, story)["last_at"] == held["last_at"] < house.row(story).last_at
        texts = [row["text"] for row in held["checkpoint"]]
        assert any(text.startswith("Goal: fix the login") for text in texts)
        assert any("auth.py" in text for text in texts)
        assert {row["section"] for row in held["checkpoint"]} == {"checkpoint"}

    def test_a_checkpoint_that_is_no_json_is_told_as_it_is(self, house: House, story: Story) -> None:
        session = house.row(story)
        broken = Draft(MemoryKind.CHECKPOINT, "checkpoint", "the goal in words", 5, ("e1",), detail="{broken")
        with house.store.transaction():
            house.store.memories.add(session, broken, Tier.RULES, "test")
        prepare.session_file(house.home, house.store, session)
        assert [row["text"] for row in session_file(house, story)["checkpoint"]] == [
            "Goal: the goal in words"
        ]


class TestNotices:
    def count(self, house: House, days_ago: int, **counts: int) -> str:
        day = clock.day_of(clock.now_ms() - days_ago * 86_400_000)
        with house.store.transaction():
            house.store.counters.add(day, {("claude-code", "Stop", name): n for name, n in counts.items()})
        return day

    def test_when_all_is_well_there_are_none(self, house: House, story: Story) -> None:
        self.count(house, 0, spooled=5, stored=5, duplicate=1, skipped=2, ignored=1)
        assert prepare.notices(house.store) == []
        assert project_file(house, story)["notices"] == []

    def test_a_day_that_lost_something_is_told_in_one_line_with_what_to_do(self, house: House) -> None:
        day = self.count(house, 2, failed=2, quarantined=1)
        assert prepare.notices(house.store) == [
            f"Backstory could not record 3 events of claude-code on {day}: run `backstory doctor`"
        ]

    def test_one_is_one_and_late_is_no_alarm(self, house: House) -> None:
        """A session killed on Friday is stored on Monday: nothing went wrong."""
        day = self.count(house, 0, late=1, failed=1)
        assert prepare.notices(house.store) == [
            f"Backstory could not record 1 event of claude-code on {day}: run `backstory doctor`"
        ]

    def test_after_a_week_it_is_history(self, house: House) -> None:
        self.count(house, 8, failed=2)
        assert prepare.notices(house.store) == []

    def test_every_project_is_told_not_only_the_one_it_happened_in(
        self, house: House, story: Story, tmp_path: Path
    ) -> None:
        other = house.session(cwd=tmp_path).prompts("elsewhere").stops("Yes.")
        house.works()
        assert project_file(house, other)["notices"] == []
        house.leaves(b"garbage")
        house.works()
        for told in (story, other):
            (notice,) = project_file(house, told)["notices"]
            assert "could not record 1 event of claude-code" in notice
        assert "could not record" in house.brief().text
        assert "could not record" in house.brief(tmp_path).text

    def test_with_the_next_day_the_briefs_are_made_anew(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        house.leaves(b"garbage")
        house.works()
        assert len(project_file(house, story)["notices"]) == 1
        now = clock.now_ms()
        monkeypatch.setattr(clock, "now_ms", lambda: now + 9 * 86_400_000)
        house.works()
        assert project_file(house, story)["notices"] == []
