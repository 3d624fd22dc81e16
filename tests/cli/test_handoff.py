"""handoff: a session's work, ready to be pasted into whichever agent goes on."""

from .memory import AGENT, SESSION, Memory


def test_a_hand_over_tells_goal_state_decisions_and_how_to_resume(worked: Memory) -> None:
    done = worked.call("handoff")

    assert done.returncode == 0
    assert "Goal: The login test fails." in done.stdout
    assert "RS256" in done.stdout
    assert "Passing:\n- pytest tests/test_login.py" in done.stdout
    assert done.stdout.endswith(f"Take it up with: cd {worked.project} && claude --resume {SESSION}\n")


def test_the_notes_stand_in_our_own_wrapper_so_that_pasting_them_remembers_nothing(worked: Memory) -> None:
    text = worked.json("handoff")["text"]
    worked.prompt(text, session="another-session")
    worked.caught_up()
    (prompt,) = [
        event
        for event in worked.json("timeline")["events"]
        if event["kind"] == "prompt" and "Go on with the work" in event["text"]
    ]
    assert "RS256" not in prompt["text"]


def test_the_target_agents_own_session_is_taken_up_or_a_new_one_is_started(worked: Memory) -> None:
    fresh = worked.json("handoff", "--to", "codex")
    assert fresh["to"] == "codex"
    assert fresh["agent"] == AGENT
    assert fresh["command"] == f"cd {worked.project} && codex"

    worked.hook("UserPromptSubmit", agent="codex", session="0199-codex", prompt="Look at the shop.")
    worked.hook("Stop", agent="codex", session="0199-codex", last_assistant_message="I have looked at it.")
    worked.caught_up()
    again = worked.json("handoff", "--to", "codex", "--session", SESSION)
    assert again["command"] == f"cd {worked.project} && codex resume 0199-codex"
    assert again["parts"]["goal"].startswith("The login test fails.")


def test_a_session_is_named_by_its_handle_or_by_the_agents_own_id(worked: Memory) -> None:
    by_default = worked.json("handoff")
    assert worked.json("handoff", "--session", SESSION)["session"] == by_default["session"]
    assert worked.json("handoff", "--session", by_default["session"][:9]) == by_default


def test_what_is_no_session_or_no_work_is_told(worked: Memory, memory: Memory) -> None:
    handle = worked.found("sign the tokens with RS256")
    refused = worked.ask("handoff", "--session", handle)
    assert refused.exit_code == 1
    assert "is not a session" in refused.stderr
    assert worked.ask("handoff", "--to", "clippy").exit_code == 1
    assert worked.ask("handoff", "--session", "nowhere").exit_code == 2
    elsewhere = worked.ask("handoff", "--cwd", str(worked.user))
    assert elsewhere.exit_code == 2
    assert "timeline --sessions" in elsewhere.stderr


def test_an_agent_that_goes_on_where_another_left_off_starts_from_its_checkpoint(worked: Memory) -> None:
    worked.prompt(
        "Let's keep sessions in Redis instead of Postgres, because they expire by themselves there."
    )
    worked.caught_up()
    own = worked.json("brief", "--agent", AGENT)
    other = worked.json("brief", "--agent", "codex")

    said = [row["text"] for row in other["rows"] if row["section"] == "left_off"]
    assert any(text.startswith("Goal: The login test fails.") for text in said)
    assert any(text.startswith("Passing: pytest tests/test_login.py") for text in said)
    assert {row["agent"] for row in other["rows"] if row["section"] == "left_off"} == {AGENT}
    assert not any(text.startswith(("Asked: ", "Decided: ")) for text in said), "each thing is said once"
    assert any(row["section"] == "decisions" for row in other["rows"])
    assert not any(row["text"].startswith("Goal:") for row in own["rows"])
