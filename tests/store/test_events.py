"""Sessions, turns and events: each once, in the order it happened."""

import uuid
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.hook.project_identity import session_id
from backstory.model import Action, Event, Kind, Outcome, SessionStatus, Where
from backstory.store import Store
from tests.store.conftest import BARN, SHOP, event, put, tool

SID = session_id("claude-code", "s1")


def prompt(text: str, at: int = 1_000, native_id: str = "", **fields: object) -> Event:
    return event(Kind.PROMPT, at, text=text, native_id=native_id, **fields)


class TestOnce:
    def test_what_has_an_id_of_its_own_is_stored_once_however_often_it_comes(self, store: Store) -> None:
        first = put(store, tool("t1", text="out"))
        second = put(store, tool("t1", at=9_000, text="out, with another pid"))
        assert [a.new for a in first + second] == [True, False]
        assert first[0].event_id == second[0].event_id
        assert store.listings.table_counts()["events"] == 1

    def test_two_equal_prompts_without_ids_stay_two(self, store: Store) -> None:
        put(store, prompt("go on"), prompt("go on", at=2_000))
        assert [e.event.text for e in store.events.of_session(SID)] == ["go on", "go on"]

    def test_live_capture_and_history_meet_in_the_same_rows(self, store: Store) -> None:
        live = [prompt("go on"), prompt("go on", at=2_000), event(Kind.COMPACTING, 3_000, reason="auto")]
        put(store, *live)
        added = put(store, *(replace(e, origin="history") for e in live))
        assert [a.new for a in added] == [False, False, False]
        assert store.listings.table_counts()["events"] == 3

    def test_history_that_came_first_is_met_by_live_capture(self, store: Store) -> None:
        put(store, prompt("go on", origin="history"))
        assert [a.new for a in put(store, prompt("go on"), prompt("go on"))] == [False, True]

    def test_words_said_twice_under_one_prompt_are_one_and_under_two_prompts_two(self, store: Store) -> None:
        said = [event(Kind.SAID, text="Done.", native_id=p) for p in ("p1", "p1", "p2")]
        assert [a.new for a in put(store, *said)] == [True, False, True]

    def test_the_output_of_a_tool_is_not_part_of_what_it_is(self, store: Store) -> None:
        ran = event(Kind.TOOL, tool="Bash", action=Action.RUN, target="date", text="pid 17")
        assert store.events.key(ran) == store.events.key(replace(ran, text="pid 18"))

    def test_kinds_sessions_sub_agents_and_agents_never_mix(self, store: Store) -> None:
        one = event(Kind.TOOL, native_id="x")
        others = [
            replace(one, kind=Kind.PROMPT),
            replace(one, session="s2"),
            replace(one, subagent="a1"),
            replace(one, agent="codex"),
            replace(one, native_id="y"),
        ]
        keys = {store.events.key(e) for e in [one, *others]}
        assert len(keys) == 6

    def test_the_second_arrival_fills_the_gaps_of_the_first(self, store: Store) -> None:
        put(store, tool("t1", text="", outcome=Outcome.NONE))
        (added,) = put(store, tool("t1", text="3 passed", outcome=Outcome.OK, body='{"whole": true}'))
        stored = store.events.event(added.event_id)
        assert stored is not None
        assert (stored.event.text, stored.event.outcome) == ("3 passed", Outcome.OK)
        assert stored.payload_size == len('{"whole": true}')
        assert store.events.payload(added.event_id) == '{"whole": true}'

    def test_an_outcome_that_the_first_arrival_did_not_know_is_filled_in(self, store: Store) -> None:
        put(store, tool("t1", text="2 failed", outcome=Outcome.NONE))
        put(store, tool("t1", text="2 failed", outcome=Outcome.FAILED))
        (added,) = put(store, tool("t1", text="2 failed", outcome=Outcome.NONE))
        stored = store.events.event(added.event_id)
        assert stored is not None
        assert stored.event.outcome is Outcome.FAILED

    def test_what_is_there_is_not_overwritten(self, store: Store) -> None:
        put(store, tool("t1", text="first", body="first body"))
        (added,) = put(store, tool("t1", text="second", body="second body"))
        stored = store.events.event(added.event_id)
        assert stored is not None
        assert stored.event.text == "first"
        assert store.events.payload(added.event_id) == "first body"

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
    @given(
        story=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "id1", "id2"])), max_size=12),
        cuts=st.lists(st.integers(0, 12), max_size=3),
    )
    def test_any_story_read_twice_by_two_roads_in_any_batches_is_stored_once(
        self, store: Store, story: list[tuple[str, str]], cuts: list[int]
    ) -> None:
        """What has ids counts by its ids, what has none by its words and how often they came."""
        session = str(uuid.uuid4())
        live = [
            event(Kind.PROMPT, at, text=text, native_id=own, session=session)
            for at, (text, own) in enumerate(story, 1)
        ]
        expected = len({own for _, own in story if own}) + sum(not own for _, own in story)
        for origin in ("live", "history"):
            rest = [replace(e, origin=origin) for e in live]
            for cut in sorted(cuts):
                put(store, *rest[: max(0, cut - len(live) + len(rest))])
                rest = rest[max(0, cut - len(live) + len(rest)) :]
            put(store, *rest)
        found = store.events.of_session(session_id("claude-code", session))
        assert len(found) == expected
        assert len({e.id for e in found}) == expected


class TestOrder:
    def test_a_clock_that_goes_backwards_does_not_shuffle_a_session(self, store: Store) -> None:
        put(store, prompt("one", at=5_000), tool("t1", at=6_000))
        put(store, tool("t2", at=1_000), event(Kind.TURN_ENDED, 2_000, native_id="p:3"))
        found = store.events.of_session(SID)
        assert [e.event.native_id for e in found] == ["", "t1", "t2", "p:3"]
        assert [e.event.at for e in found] == [5_000, 6_000, 6_000, 6_000]
        assert [e.seq for e in found] == [1, 2, 3, 4]

    def test_what_history_adds_stands_where_it_happened_and_in_its_turn(self, store: Store) -> None:
        put(store, prompt("one", at=1_000, native_id="p1"), tool("t1", at=2_000))
        put(store, prompt("two", at=5_000, native_id="p2"), tool("t2", at=6_000))
        put(store, event(Kind.SAID, 1_500, text="hm", native_id="p1", origin="history"))
        found = store.events.of_session(SID)
        assert [(e.turn, e.event.text or e.event.native_id) for e in found] == [
            (1, "one"),
            (1, "hm"),
            (1, "t1"),
            (2, "two"),
            (2, "t2"),
        ]

    def test_an_older_prompt_that_history_adds_does_not_take_over_the_running_turn(
        self, store: Store
    ) -> None:
        """Backstory was installed in mid-session: hooks saw the second prompt, history brings the first."""
        put(store, prompt("second", at=5_000, native_id="p2"))
        put(store, prompt("first", at=1_000, native_id="p1", origin="history"))
        put(store, event(Kind.SAID, 1_500, text="about the first", native_id="p1", origin="history"))
        put(store, tool("t2", at=6_000, text="about the second"))
        put(
            store,
            prompt("zeroth", at=500, native_id="p0", origin="history"),
            tool("t3", at=7_000, text="and this"),
        )
        turns = {e.event.text: e.turn for e in store.events.of_session(SID)}
        assert turns["about the second"] == turns["and this"] == turns["second"]
        assert turns["about the first"] == turns["first"]
        assert turns["first"] != turns["second"]

    def test_events_can_be_asked_for_from_a_place_on(self, store: Store) -> None:
        put(store, prompt("one"), tool("t1", at=2_000), tool("t2", at=3_000))
        assert [e.event.native_id for e in store.events.of_session(SID, after=1)] == ["t1", "t2"]


class TestSessions:
    def test_a_start_makes_one_active_session_and_repeats_do_not_make_another(self, store: Store) -> None:
        """CCE-5."""
        for at in (1_000, 2_000, 3_000):
            put(store, event(Kind.SESSION_STARTED, at, reason="startup"))
        (session,) = store.events.sessions()
        assert (session.status, session.started_at, session.source) == (
            SessionStatus.ACTIVE,
            1_000,
            "startup",
        )

    @pytest.mark.parametrize("kind", [Kind.PROMPT, Kind.TOOL, Kind.TURN_ENDED])
    def test_whatever_comes_before_the_start_makes_the_session_with_its_project(
        self, store: Store, kind: Kind
    ) -> None:
        """CCE-7."""
        put(store, event(kind, 1_000, text="early"))
        put(store, event(Kind.SESSION_STARTED, 2_000, reason="startup"))
        (session,) = store.events.sessions()
        assert (session.project_name, session.started_at, session.cwd) == ("shop", 1_000, "/home/dev/shop")

    def test_prompts_are_numbered_and_counted_only_when_they_are_really_stored(self, store: Store) -> None:
        """CCE-8, CCE-9."""
        put(
            store, prompt("one", native_id="p1"), prompt("one", native_id="p1"), prompt("two", native_id="p2")
        )
        put(store, prompt("two", native_id="p2"), prompt("three"))
        session = store.events.session(SID)
        assert session is not None
        assert session.prompt_count == 3
        assert [e.turn for e in store.events.of_session(SID)] == [1, 2, 3]
        assert session.title == "one"

    def test_a_recalled_prompt_begins_no_turn(self, store: Store) -> None:
        put(store, prompt("", recalled=True), prompt("real", at=2_000))
        session = store.events.session(SID)
        assert session is not None
        assert (session.prompt_count, session.event_count, session.title) == (1, 2, "real")

    @pytest.mark.parametrize("reason", ["exit", "clear", "logout", "prompt_input_exit", "other"])
    def test_the_end_is_kept_with_its_reason_and_time(self, store: Store, reason: str) -> None:
        """CMEM-8, CCE-14."""
        put(store, event(Kind.SESSION_STARTED, 1_000), event(Kind.SESSION_ENDED, 9_000, reason=reason))
        session = store.events.session(SID)
        assert session is not None
        assert session.status is SessionStatus.ENDED
        assert (session.started_at, session.ended_at, session.end_reason) == (1_000, 9_000, reason)

    def test_a_resumed_session_is_alive_again_and_counts_on(self, store: Store) -> None:
        put(store, event(Kind.SESSION_STARTED, 500, reason="startup"), prompt("one"))
        put(store, event(Kind.SESSION_ENDED, 2_000, reason="other"))
        put(store, event(Kind.SESSION_STARTED, 3_000, reason="resume"), prompt("two", at=4_000))
        session = store.events.session(SID)
        assert session is not None
        assert (session.status, session.ended_at, session.end_reason) == (SessionStatus.ACTIVE, None, "")
        assert (session.source, session.prompt_count) == ("startup", 2)
        found = [e.event.reason for e in store.events.of_session(SID) if e.event.kind is Kind.SESSION_STARTED]
        assert found == ["startup", "resume"]

    def test_a_turn_keeps_how_it_ended(self, store: Store) -> None:
        put(store, prompt("one"), event(Kind.TURN_ENDED, 2_000, outcome=Outcome.OK))
        put(store, prompt("two", at=3_000), event(Kind.TURN_FAILED, 4_000, outcome=Outcome.FAILED))
        put(store, prompt("three", at=5_000))
        put(store, event(Kind.TURN_ENDED, 6_000, outcome=Outcome.INTERRUPTED, native_id="p3:interrupted"))
        rows = store._connection.execute(
            "SELECT number, ended_at, outcome FROM turns ORDER BY number"
        ).fetchall()
        assert rows == [(1, 2_000, "ok"), (2, 4_000, "failed"), (3, 6_000, "interrupted")]

    def test_a_sub_agent_is_a_session_of_its_own_below_the_one_that_started_it(self, store: Store) -> None:
        put(store, prompt("look around"))
        child = {"subagent": "a1", "subagent_type": "explorer"}
        put(store, tool("t1", 2_000, **child), event(Kind.SUBAGENT_ENDED, 3_000, native_id="a1:2", **child))
        (top,) = store.events.sessions()
        (below,) = store.events.children(top.id)
        assert (below.parent_id, below.subagent_type, below.status) == (SID, "explorer", SessionStatus.ENDED)
        assert top.status is SessionStatus.ACTIVE
        found = store.events.of_session(below.id)[0].event
        assert (found.session, found.subagent, found.subagent_type) == ("s1", "a1", "explorer")

    def test_a_sub_agent_of_no_type_is_still_told_apart_when_read_back(self, store: Store) -> None:
        put(store, tool("t1", subagent="a1"))
        found = store.events.latest(None, 0, 1)[0].event
        assert (found.session, found.subagent) == ("s1", "a1")

    def test_a_sub_agent_that_is_heard_of_first_has_its_parent_waiting(self, store: Store) -> None:
        put(store, tool("t1", subagent="a1"))
        (top,) = store.events.sessions()
        assert top.id == SID
        put(store, prompt("late", at=9_000))
        assert store.events.session(SID) is not None
        assert len(store.events.sessions(top_level=False)) == 2

    def test_the_end_of_a_nameless_sub_agent_does_not_end_the_session(self, store: Store) -> None:
        put(store, prompt("one"), event(Kind.SUBAGENT_ENDED, 2_000, native_id="x"))
        session = store.events.session(SID)
        assert session is not None
        assert session.status is SessionStatus.ACTIVE

    def test_sessions_come_newest_first_by_project(self, store: Store) -> None:
        put(store, event(at=1_000, session="old"), event(at=3_000, session="new"))
        put(store, event(at=2_000, session="elsewhere"), project=BARN)
        assert [s.native_id for s in store.events.sessions()] == ["new", "elsewhere", "old"]
        assert [s.native_id for s in store.events.sessions("p-barn")] == ["elsewhere"]
        assert [s.native_id for s in store.events.sessions(limit=1)] == ["new"]


class TestPayloads:
    def test_the_payload_lies_beside_the_event_which_knows_its_size(self, store: Store) -> None:
        """CCE-11."""
        body = '{"tool_response": "' + "long " * 1_000 + '"}'
        (added,) = put(store, tool("t1", text="short", body=body))
        stored = store.events.event(added.event_id)
        assert stored is not None
        assert stored.payload_size == len(body)
        assert stored.event.body == ""
        assert store.events.payload(added.event_id) == body
        raw = store._connection.execute("SELECT length(body) FROM payloads").fetchone()
        assert raw[0] < len(body) / 10

    def test_an_event_without_one_says_so(self, store: Store) -> None:
        (added,) = put(store, prompt("x"))
        assert store.events.payload(added.event_id) is None
        assert store.events.payload("nothing") is None

    @pytest.mark.parametrize("body", ["日本語 🎉", "\ud83d", "\0", "ü" * 100])
    def test_any_text_comes_back_as_it_was(self, store: Store, body: str) -> None:
        (added,) = put(store, tool("t1", body=body))
        assert store.events.payload(added.event_id) == body


class TestFinding:
    def test_the_beginning_of_an_id_is_enough_and_at_most_ten_are_given(self, store: Store) -> None:
        added = put(store, *(tool(f"t{n}") for n in range(40)))
        assert store.events.ids_like(added[0].event_id[:12]) == [added[0].event_id]
        assert len(store.events.ids_like("e")) == 10
        assert store.events.ids_like("x123") == []
        assert store.events.ids_like("") == []
        assert store.events.ids_like("e%") == []

    def test_the_latest_come_first_by_time_and_project(self, store: Store) -> None:
        put(store, prompt("old", at=1_000), tool("t1", 3_000, text="new"))
        put(store, event(at=2_000, session="s2", text="elsewhere"), project=BARN)
        assert [e.event.text for e in store.events.latest(None, 0, 9)] == ["new", "elsewhere", "old"]
        assert [e.event.text for e in store.events.latest(SHOP.id, 0, 9)] == ["new", "old"]
        assert [e.event.text for e in store.events.latest(None, 2_000, 1)] == ["new"]

    def test_what_was_stored_is_what_is_read(self, store: Store) -> None:
        whole = Event(
            "claude-code", "s1", Kind.TOOL, 7, "text", Action.RUN, "Bash", "ls", Outcome.FAILED, "why", "t1",
            "a1", "explorer", "/t.jsonl", Where("/home/dev/shop", "main", "c0ffee", "wt", True), "", True, "live",
        )  # fmt: skip
        put(store, whole)
        assert store.events.latest(None, 0, 1)[0].event == whole
