"""What a model is given of a session: which lines, and what goes when not all fits."""

from dataclasses import replace

import pytest

from backstory.distil.excerpt import Excerpt, excerpt, extent
from backstory.model import Action, Event, Kind, Outcome, Session, SessionStatus, StoredEvent
from tests.distil.test_harvest import prompt, ran, said

REFUSED = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"


def tool(action: Action, text: str, target: str = "", name: str = "", outcome: Outcome = Outcome.OK) -> Event:
    return Event("claude-code", "s1", Kind.TOOL, 3, text, action, name, target, outcome)


def told(*events: Event, room: int = 12_000) -> Excerpt:
    placed = [event if event.at > 9 else replace(event, at=at) for at, event in enumerate(events)]
    stored = [StoredEvent(f"e{at}", "s1", 1, at, 0, event) for at, event in enumerate(placed)]
    session = Session(
        id="s1", agent="claude-code", native_id="s1", project_id="p1", project_name="shop", title="", cwd="/shop",
        branch="main", started_at=1, last_at=9, status=SessionStatus.ENDED, end_reason="", prompt_count=1,
        parent_id="", subagent_type="", source="startup", transcript="", ended_at=9,
        event_count=len(events),
    )  # fmt: skip
    found = excerpt(session, stored, -1, room)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            tool(Action.DELEGATE, "The cache is never emptied: evict() has no caller."),
            "sub-agent: The cache is",
        ),
        (
            tool(Action.OTHER, "Which store? → SQLite", name="AskUserQuestion"),
            "the user chose: Which store? → SQLite",
        ),
        (
            tool(Action.RUN, f"{REFUSED}no, do not commit yet", "git commit", outcome=Outcome.INTERRUPTED),
            "the user refused a call: no, do not commit yet",
        ),
        (ran("bd close a-1 --reason='Fixed by caching the lookup'"), "wrote: bd close a-1: Fixed by caching"),
        (ran("git commit -m 'Cache the lookup'"), "committed: Cache the lookup"),
        (
            Event("claude-code", "s1", Kind.COMPACTED, 3, "## Errors and fixes\nThe build needs Node 22."),
            "summary before compaction: Errors and fixes: The build needs Node 22.",
        ),
    ],
    ids=["report", "answer", "refusal", "record", "commit", "summary"],
)
def test_each_kind_of_what_carries_meaning_has_its_line(event: Event, line: str) -> None:
    found = told(prompt("Why does it take so long?"), event, said("It is done now."))
    assert line in found.text
    assert [each.events for each in found.lines] == [("e0",), ("e1",), ("e2",)], "each stands for its event"


def test_paths_are_seen_from_the_sessions_folder_and_names_are_whole() -> None:
    files = [tool(Action.EDIT, "- a\n+ b", f"/shop/src/very/deep/{'folder/' * 20}{n}.py") for n in range(10)]
    (changed,) = [line.text for line in told(prompt("Rename it"), *files).lines if "changed" in line.text]
    assert "/shop/" not in changed
    assert changed.count("/0.py") == 1
    assert changed.endswith("7.py and 2 more")


def test_what_says_least_goes_first() -> None:
    wordy = [
        said(f"I look at part {n}, because it may be the reason. " + "So it goes. " * 20) for n in range(9)
    ]
    commit = ran(
        "git commit -m 'Cache the lookup, which ran once for every row of " + "the long list " * 15 + "'"
    )
    found = told(prompt("Why is it slow?"), commit, *wordy, said("It is done now."), room=500)
    kinds = [line.text.partition(":")[0] for line in found.lines]
    assert kinds == ["user", "committed", "agent, closing"]
    assert extent(found.text) <= 500


COMMIT = "git commit -m 'Cache the lookup'"


def test_a_commit_that_failed_is_not_told_as_committed() -> None:
    failed = ran(COMMIT, "error: the check failed: unused import cache.py:3", Outcome.FAILED)
    found = told(prompt("Why is it slow?"), failed, said("The commit is refused."))
    assert "committed:" not in found.text
    assert "FAILED $ git commit" in found.text


def test_a_commits_message_stands_once_however_often_it_was_committed() -> None:
    failed = ran(COMMIT, "error: the check failed: unused import cache.py:3", Outcome.FAILED)
    found = told(prompt("Why is it slow?"), failed, ran(COMMIT), ran(f"{COMMIT} --amend"), said("Done now."))
    assert found.text.count("committed: Cache the lookup") == 1


def test_of_several_bodies_of_a_pull_request_the_last_one_holds() -> None:
    found = told(
        prompt("Open a pull request"),
        ran("gh pr create --title Cache --body 'Caches every lookup'", "https://github.com/a/shop/pull/7"),
        ran("gh pr edit 7 --body 'Caches the slow lookup'", "https://github.com/a/shop/pull/7"),
        ran("gh pr edit 7 --title 'A cache for the shop'", "https://github.com/a/shop/pull/7"),
        ran("gh pr create --title Log --body 'Logs every order'", "https://github.com/a/shop/pull/8"),
        said("Both are open."),
    )
    assert "Caches every lookup" not in found.text
    assert "Caches the slow lookup" in found.text
    assert "A cache for the shop" in found.text
    assert "Logs every order" in found.text


def compacted(text: str) -> Event:
    return Event("claude-code", "s1", Kind.COMPACTED, 3, text)


def test_of_a_compaction_summary_the_sections_that_tell_are_shown_and_not_the_analysis() -> None:
    summary = (
        "Analysis:\nLet me chronologically analyze the conversation:\n1. First the user asked this.\n"
        + "Then I looked at a file. " * 90
        + "\n\nSummary:\n1. Primary Request and Intent:\n   Make the lookup fast.\n"
        + "2. Files and Code Sections:\n"
        + "   - src/cache.py: the cache. \n" * 60
        + "3. Errors and fixes:\n   1. The ring overflowed:\n      fixed by doubling it.\n"
        + "   - User feedback: never touch the schema.\n"
        + "4. Pending Tasks:\n   - Empty the cache at night.\n5. Current Work:\n   Writing the test.\n"
    )
    found = told(prompt("Why is it slow?"), compacted(summary), said("Going on."))
    (line,) = [each.text for each in found.lines if each.text.startswith("summary")]
    assert line == (
        "summary before compaction: Primary Request and Intent: Make the lookup fast. Errors and fixes: "
        "1. The ring overflowed: fixed by doubling it. - User feedback: never touch the schema. "
        "Pending Tasks: - Empty the cache at night. Current Work: Writing the test."
    )


def test_a_long_section_leaves_room_for_the_others() -> None:
    summary = (
        "1. Errors and fixes:\n"
        + "The ring overflowed. " * 200
        + "\n2. Pending Tasks:\n- Empty it.\n"
        + "3. Current Work: "
        + "It is being tested. " * 100
    )
    found = told(prompt("Why is it slow?"), compacted(summary), said("Going on."))
    (line,) = [each.text for each in found.lines if each.text.startswith("summary")]
    assert "Pending Tasks: - Empty it. Current Work: It is being tested." in line
    assert len(line) <= 1_830


def test_what_was_not_kept_or_only_cancelled_has_no_line() -> None:
    hidden = "[content not kept: privacy.ignore_paths]"
    found = told(
        prompt("Why is it slow?"),
        ran("", hidden, Outcome.FAILED),
        ran("", hidden),
        ran("make check", "<tool_use_error>Sibling tool call errored</tool_use_error>", Outcome.FAILED),
        ran("make check"),
        tool(Action.EDIT, hidden, "/shop/.env"),
        said("It is done now."),
    )
    assert [line.text for line in found.lines] == [
        "user: Why is it slow?",
        "changed .env",
        "agent, closing: It is done now.",
    ]


def test_an_agents_sentences_have_their_beginning_and_end_where_one_ends() -> None:
    words = (
        "The monorepo task files can still surface, because the loader reads them twice. "
        + "So it goes on and on and on. " * 9
    )
    for outcome, lead in ((Outcome.OK, "agent: "), (Outcome.FAILED, "FAILED ")):
        found = told(
            prompt("Why is it slow?"),
            said(words),
            ran("make check", "error: no such task: build", outcome),
            said("Done now."),
        )
        (line,) = [each.text for each in found.lines if each.text.startswith(lead)]
        assert line.startswith(f"{lead}The monorepo task files can still surface, because")
        assert "So it goes on and on and on. …" in line
    assert line.endswith("$ make check → failed: error: no such task: build")


def test_what_an_agent_tells_its_own_window_takes_no_room() -> None:
    found = told(prompt("Why is it slow?"), said('It is fast now.\n::git-stage{cwd="/shop"}'))
    assert found.lines[-1].text == "agent, closing: It is fast now."


def test_what_a_hook_refused_is_told_with_its_reason() -> None:
    why = "PreToolUse:Bash hook error: [check.sh]: run the formatter before you commit"
    edit = "Edit operation blocked by hook:\n- [guard.sh]: never touch the migrations"
    found = told(
        prompt("Commit it, please"),
        ran("git commit -am 'Cache the lookup'", why, Outcome.FAILED),
        tool(Action.EDIT, edit, "/shop/migrations/1.sql", "Edit", Outcome.FAILED),
        said("I format it first."),
    )
    lines = [line.text for line in found.lines]
    assert f"a hook refused Bash git commit -am 'Cache the lookup': {why}" in lines
    assert f"a hook refused Edit migrations/1.sql: {' '.join(edit.split())}" in lines
    assert len(lines) == 4, "one line for each, and nothing was changed"


def test_a_command_that_took_minutes_is_told_with_its_time() -> None:
    slow, quick, alone = (ran(f"make {name}") for name in ("slow", "quick", "alone"))
    found = told(
        prompt("Test it"),
        replace(said("I run the tests."), at=1_000),
        replace(slow, at=181_000),
        replace(said("And the linter."), at=190_000),
        replace(quick, at=200_000),
        replace(alone, at=400_000),
        replace(said("All of it passes."), at=500_000),
    )
    assert [line.text for line in found.lines if "took" in line.text] == ["took 3 min: make slow"]
