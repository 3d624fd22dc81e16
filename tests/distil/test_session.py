"""The entry: pure, deterministic, robust, and nothing that is not the user's or the assistant's."""

import socket
import subprocess
import time
from dataclasses import replace
from typing import Any

import pytest
from bench.distil.sources import START, Case, case, script
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.distil import VERSION, Limits, distil_session, too_little
from backstory.model import Action, Event, Kind, MemoryKind, Outcome, StoredEvent
from tests.distil import distilled, of

SESSION = """cwd: /repo
> fix the login. let's use RS256 instead of HS256 because keys rotate
! pytest
  E   KeyError: 'kid'
edit /repo/auth.py
  - a
  + b
$ pytest
  5 passed
said
  Fixed. Next: rotate the secret.
end
"""


def test_every_draft_names_its_events_and_the_time_of_the_last() -> None:
    told = script("s", SESSION)
    at = {stored.id: stored.event.at for stored in told.events}
    for draft in distil_session(told.session, told.events):
        assert draft.sources
        assert set(draft.sources) <= set(at)
        assert min(at.values()) <= draft.at <= max(at.values())
        assert draft.text


def test_all_kinds_are_found_and_one_summary_and_checkpoint() -> None:
    kinds = [draft.kind for draft in distilled(SESSION)]
    assert kinds.count(MemoryKind.SUMMARY) == kinds.count(MemoryKind.CHECKPOINT) == 1
    assert {
        MemoryKind.TURN,
        MemoryKind.LESSON,
        MemoryKind.DECISION,
        MemoryKind.NEXT_STEP,
        MemoryKind.COMMAND,
    } <= set(kinds)
    assert VERSION.startswith("t1.")


def test_two_drafts_never_share_kind_and_subject() -> None:
    keys = [
        (draft.kind, draft.subject)
        for draft in distilled("cwd: /repo\n" + SESSION.removeprefix("cwd: /repo\n") * 3)
    ]
    assert len(keys) == len(set(keys))


def test_it_needs_no_model_no_network_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """CCE-41: turn summaries and session rollups without a model and without a network."""

    def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError("distilling reached outside")

    told = script("s", SESSION)
    for owner, name in ((socket, "socket"), (subprocess, "Popen"), (time, "time"), (time, "sleep")):
        monkeypatch.setattr(owner, name, forbidden)
    monkeypatch.setattr("builtins.open", forbidden)
    drafts = distil_session(told.session, told.events)
    assert {MemoryKind.TURN, MemoryKind.SUMMARY} <= {draft.kind for draft in drafts}


def _with(told: Case, **changes: Any) -> Case:
    """The same session with one event more, after the prompt."""
    event = replace(Event("a", "s", Kind.SAID, START), **changes)
    extra = StoredEvent("extra", told.name, 1, 0, 0, event)
    return replace(told, events=(told.events[0], extra, *told.events[1:]))


@pytest.mark.parametrize(
    "changes",
    [
        {"recalled": True, "text": "SECRET we decided on X because Y"},
        {"kind": Kind.REASONED, "text": "SECRET we decided on X because Y"},
        {"kind": Kind.SESSION_STARTED, "text": "SECRET"},
        {"kind": Kind.PROMPT, "text": "<system-reminder>SECRET</system-reminder>"},
        {"kind": Kind.PROMPT, "text": "<local-command-stdout>SECRET</local-command-stdout>"},
    ],
    ids=["recalled", "reasoning", "start", "reminder", "command output"],
)
def test_only_the_user_and_the_assistant_speak(changes: dict[str, Any]) -> None:
    """CM-6: only user and assistant roles enter the distilled conversation; our own words never do."""
    told = _with(script("s", SESSION), **changes)
    drafts = distil_session(told.session, told.events)
    assert drafts
    assert "SECRET" not in repr(drafts)


def test_an_output_enters_only_as_the_error_it_reported() -> None:
    drafts = distilled(
        "> go\n$ cat notes.txt\n  PLAINTEXT\n! pytest\n  noise\n  E   KeyError: 'kid'\n  noise\nend\n"
    )
    assert "PLAINTEXT" not in repr(drafts)
    assert "KeyError: 'kid'" in repr(drafts)


def test_mid_session_it_tells_what_is_known_so_far() -> None:
    told = script("s", SESSION)
    (summary,) = [d for d in distil_session(told.session, told.events[:3]) if d.kind is MemoryKind.SUMMARY]
    assert "Unfinished: the session did not end, its last step used" in summary.text


def test_a_killed_session_says_so() -> None:
    (summary,) = of(MemoryKind.SUMMARY, "status: failed\n> fix the login\nedit a.py\n")
    assert "Unfinished: the session was killed, its last step used" in summary.text


def test_a_turn_that_an_error_ended() -> None:
    told = script("s", "> fix the login\nedit a.py\nend\n")
    last = told.events[-1]
    failed = replace(last, event=replace(last.event, kind=Kind.TURN_FAILED, reason="rate_limit"))
    drafts = distil_session(told.session, [*told.events[:-1], failed])
    assert any("failed (rate_limit)" in d.text for d in drafts if d.kind is MemoryKind.NEXT_STEP)


def test_paths_are_told_from_the_sessions_folder() -> None:
    (turn,) = of(MemoryKind.TURN, "cwd: /repo\n> go\nedit /repo/a/b.py\nedit /etc/hosts\nend\n")
    assert turn.files == ("a/b.py", "/etc/hosts")
    (turn,) = of(MemoryKind.TURN, "cwd: C:\\src\\app\n> go\nedit C:\\src\\app\\a\\b.cs\nend\n")
    assert turn.files == ("a/b.cs",)


def test_nothing_gives_nothing() -> None:
    told = script("s", "")
    assert distil_session(told.session, told.events) == []


@pytest.mark.parametrize("line", SESSION.splitlines()[1:])
def test_any_single_event_is_survived(line: str) -> None:
    if not line.startswith("  "):
        distilled(line + "\n")


def test_five_thousand_events_and_giant_texts_do_not_hang() -> None:
    """The pace itself is measured in bench/distil; this guards against growth that is not linear."""
    block = (
        "> fix it\n"
        + "! pytest tests/t{0}.py\n  E   KeyError: {0}\nsaid\n  I decided on {0} because of {0}.\n" * 1
    )
    text = "".join((block + "edit f{0}.py\n$ pytest tests/t{0}.py\nend\n").format(n) for n in range(830))
    told = script("s", text)
    assert len(told.events) > 4_900
    start = time.process_time()
    assert distil_session(told.session, told.events)
    assert time.process_time() - start < 10
    giant = "x" * 5_000_000
    told = script("s", SESSION)
    events = [
        replace(e, event=replace(e.event, text=giant, target=e.event.target + giant)) for e in told.events
    ]
    start = time.process_time()
    distil_session(told.session, events)
    assert time.process_time() - start < 10


PIECES = (
    *(
        "a",
        "Ä",
        "決",
        "🎉",
        "\n",
        "- ",
        "```",
        "?",
        ":",
        "because ",
        "let's use ",
        "→",
        "\x00",
        "\u202e",
        "İ",
    ),
    *("**", "1. ", "npm test", " && ", "'", "Error: x", "\n→ ", "{}", "[]", '{"todos": [1]}', "always "),
)
WORDS = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)
EVENTS = st.lists(
    st.builds(
        Event,
        st.just("a"),
        st.just("s"),
        st.sampled_from(Kind),
        st.integers(0, 2**40),
        text=WORDS,
        action=st.sampled_from(Action),
        tool=st.sampled_from(["Bash", "AskUserQuestion", "TaskUpdate", ""]),
        target=WORDS,
        outcome=st.sampled_from(Outcome),
        recalled=st.booleans(),
    ),
    max_size=25,
)


@settings(max_examples=150, deadline=None)
@given(EVENTS)
def test_the_same_events_give_the_same_drafts_whatever_they_are(events: list[Event]) -> None:
    told = case("s", "x", events, {})
    drafts = distil_session(told.session, told.events)
    assert drafts == distil_session(told.session, told.events)
    assert all(draft.sources and draft.text for draft in drafts)
    assert len({(d.kind, d.subject) for d in drafts}) == len(drafts)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.sampled_from([Kind.REASONED, Kind.COMPACTING, Kind.SUBAGENT_ENDED])),
        max_size=6,
    )
)
def test_noise_between_the_events_changes_nothing(noise: list[tuple[int, Kind]]) -> None:
    told = script("s", SESSION)
    events = list(told.events)
    for number, (place, kind) in enumerate(noise):
        turn = events[place - 1].turn
        events.insert(
            place,
            StoredEvent(
                f"n{number}", "s", turn, 0, 0, Event("a", "s", kind, START, text="we chose X because Y")
            ),
        )
    assert distil_session(told.session, events) == distil_session(told.session, told.events)


def test_too_little_gives_its_numbers() -> None:
    """MEMORIA-30: empty context or too few turns is a SKIP with the numbers."""
    told = script("s", "> one\nend\n> two\nend\n")
    assert too_little(told.session, []) == "SKIP: nothing to distil (0 events, 0 turns)"
    assert (
        too_little(told.session, told.events, Limits(min_turns_end=3))
        == "SKIP: 2 turns, at least 3 needed (4 events)"
    )
    assert distil_session(told.session, told.events, Limits(min_turns_end=3)) == []
    assert too_little(told.session, told.events) == ""


def test_before_a_compaction_more_turns_are_needed() -> None:
    """CM-8: minimum turns are 1 at the end and 5 before a compaction, and both can be set."""
    told = script("s", "> one\nend\n> two\nend\n")
    last = told.events[-1]
    compacting = [*told.events, replace(last, id="c", event=replace(last.event, kind=Kind.COMPACTING))]
    assert too_little(told.session, compacting) == "SKIP: 2 turns, at least 5 needed (5 events)"
    assert too_little(told.session, compacting, Limits(min_turns_compact=2)) == ""
