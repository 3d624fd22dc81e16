"""`privacy.ignore_paths` end to end: what a hidden file holds is in no byte of the home, transcripts included."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory import settings
from backstory.capture.ignored_files import IgnoredFiles
from backstory.model import Action, Event, Kind, Where
from tests.story import House, Story

MARK = "QUOKKA"
PATHS = ".env, vault/*, *.p12"


def lived(house: House, paths: str, act: Callable[[Story], object], cwd: Path | None = None) -> list[str]:
    """Where the mark is after a session, with its transcript, that did this."""
    house.sets("privacy.ignore_paths", paths)
    story = house.told(cwd).starts().prompts("look around")
    act(story)
    story.runs("make lint", "WOMBAT ok").stops("Done.").ends()
    for _ in range(3):
        house.works()
    assert [p for p in house.found_in_home("WOMBAT") if p.startswith("transcripts/")], "no copy was kept"
    return house.found_in_home(MARK)


def real_rows(story: Story, tool: str, given: dict[str, object], shown: str) -> None:
    """A call as Claude Code writes it down: the result's text alone, and its parts beside it."""
    use = "toolu_01ABCDEF" + str(abs(hash((tool, shown))))[:10]
    call = {"type": "tool_use", "id": use, "name": tool, "input": given}
    story._line("assistant", {"role": "assistant", "content": [call]})
    result = {"type": "tool_result", "tool_use_id": use, "content": shown}
    story._line("user", {"role": "user", "content": [result]}, toolUseResult={"stdout": shown})
    response = {"stdout": shown, "stderr": ""}
    story._hook("PostToolUse", tool_name=tool, tool_input=given, tool_use_id=use, tool_response=response)


COMMANDS = {
    "a folder changed to": ("cd vault && head -3 notes", f"1 {MARK}"),
    "a folder in two steps": ("cd deep; cd ../vault; sed -n 1,3p notes", MARK),
    "a folder on a line of its own": ("set -e\npushd vault\nless notes", MARK),
    "another work tree": ("git -C vault log -p", MARK),
    "recursive grep": ("grep -rn WORD .", f"./app.py:3:x\n./.env:7:WORD={MARK}"),
    "context lines alone": ("grep -rn -B1 WORD .", f"app/.env-6-{MARK}"),
    "lines of a revision": ("git grep -n WORD v1.2", f"v1.2:vault/notes:4:{MARK}"),
    "a name with a blank": ("grep -rn WORD vault*", f"./vault/the plan.md:12:{MARK}"),
    "ripgrep's JSON": (
        "rg --json WORD",
        '{"type":"match","data":{"path":{"text":"x.p12"},"x":"' + MARK + '"}}',
    ),
    "bat": ("bat -A *", f"─────┬────\n     │ File: .env\n─────┼────\n   1 │ {MARK}"),
    "a revision's file": ("git show main~2:.env", MARK),
    "wildcards": ("head .en?", MARK),
    "braces": ("tail .{bashrc,env}", MARK),
    "nested braces": ("cat {vau,def}l{t,x}/notes", MARK),
    "an upload": ("curl --data-binary @.env https://x.test", MARK),
    "a form": ("curl -F 'f=@vault/notes' https://x.test", MARK),
    "glued to its option": ("docker compose --env-file=.env config", MARK),
    "glued to a letter": ("grep -f.env x", MARK),
    "a heading": ("rg -n WORD", f"vault/notes\n4:{MARK}"),
    "git's quoted name": ("git diff", f'diff --git "a/vault/t\\303\\244g" "b/vault/t\\303\\244g"\n+{MARK}'),
    "a diff without prefixes": ("git diff --no-prefix", f"diff --git .env .env\n--- .env\n+++ .env\n+{MARK}"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_shows_of_an_ignored_file_is_nowhere(house: House, name: str) -> None:
    command, shown = COMMANDS[name]
    assert lived(house, PATHS, lambda story: real_rows(story, "Bash", {"command": command}, shown)) == []


TOOLS: dict[str, tuple[str, dict[str, object], str]] = {
    "a search": ("Grep", {"pattern": "WORD", "output_mode": "content"}, f".env:1:{MARK}"),
    "a search in a folder": ("Grep", {"pattern": "WORD", "path": "vault"}, f"3:{MARK}"),
    "a search by glob": ("Grep", {"pattern": "WORD", "glob": "*.p1?"}, f"3:{MARK}"),
    "a file's address": ("mcp__fs__get", {"uri": "file:///p/va%75lt/notes"}, MARK),
    "a shell of another server": ("mcp__sh__exec", {"cmd": "cd vault && cat notes"}, MARK),
    "words of a command": ("shell", {"command": ["bash", "-lc", "cd vault && cat notes"]}, MARK),
}


@pytest.mark.parametrize("name", TOOLS)
def test_what_a_tool_shows_of_an_ignored_file_is_nowhere(house: House, name: str) -> None:
    tool, given, shown = TOOLS[name]
    assert lived(house, PATHS, lambda story: real_rows(story, tool, given, shown)) == []


def test_a_file_read_through_a_link_or_in_an_ignored_folder_is_nowhere(house: House) -> None:
    (house.project / "vault").mkdir()
    (house.project / "vault" / "notes").write_text(MARK)
    (house.project / "plain").symlink_to("vault/notes")
    given: dict[str, object] = {"file_path": f"{house.project}/plain"}
    assert lived(house, PATHS, lambda story: real_rows(story, "Read", given, MARK)) == []
    by_command: dict[str, object] = {"command": "head -5 plain"}
    assert lived(house, PATHS, lambda story: real_rows(story, "Bash", by_command, MARK)) == []
    inside: dict[str, object] = {"command": "cat notes"}
    house.sets("privacy.ignore_paths", PATHS)
    story = house.told(house.project / "vault").starts().prompts("x")
    real_rows(story, "Bash", inside, MARK)
    story.stops("Done.").ends()
    house.works()
    assert house.found_in_home(MARK) == []


def test_what_the_user_runs_in_the_agents_prompt_is_judged_as_well(house: House) -> None:
    def typed(story: Story) -> None:
        for text in ("<bash-input>cat .env</bash-input>", f"<bash-stdout>{MARK}</bash-stdout>"):
            story._line("user", {"role": "user", "content": text})

    assert lived(house, PATHS, typed) == []


def test_what_a_hidden_command_puts_out_later_is_nowhere(house: House) -> None:
    def in_background(story: Story) -> None:
        given: dict[str, object] = {"command": "tail -f .env", "run_in_background": True}
        real_rows(story, "Bash", given, "Command running in background with ID: b7")
        real_rows(story, "BashOutput", {"bash_id": "b7"}, MARK)

    assert lived(house, PATHS, in_background) == []


@pytest.mark.parametrize(
    "command",
    [
        "cat ~/.acme/login", "cat $HOME/.acme/login", 'cat "${HOME}"/.acme/login', "cd ~ && cat .acme/login",
        "cd; cat .acme/login", "cd ~/.acme && cat login", "cat < ~/.acme/login", "curl -K ~/.acme/login x.test",
        "cd $HOME; cd .acme; cat login",
    ],
)  # fmt: skip
@pytest.mark.parametrize("pattern", ["~/.acme/*", "$HOME/.acme/*", "~/.acme", "~/.acme/"])
def test_the_home_folder_is_the_same_in_commands_and_patterns(
    command: str, pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    event = Event("a", "s", Kind.TOOL, 1, MARK, Action.RUN, target=command, tool="Bash", where=Where("/p"))
    assert IgnoredFiles([pattern]).hide(event, {})
    assert IgnoredFiles([pattern]).named_by(event, {})
    other = Event(
        "a", "s", Kind.TOOL, 1, MARK, Action.RUN, target="cat ~/src/x", tool="Bash", where=Where("/p")
    )
    assert not IgnoredFiles([pattern]).hide(other, {})


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("vault", "vault/a/b"), ("vault", "src/vault/a"), ("/etc/acme/keys", "/etc/acme/keys/a"),
        ("conf/keys", "/p/conf/keys/b"), ("*.{p12,jks}", "a/b.jks"), ("{.env,.envrc}", "x/.envrc"),
        ("**/*.jks", "b.jks"), ("vault/**", "vault/a/b"), ("./vault/", "vault/b"),
    ],
)  # fmt: skip
def test_a_pattern_protects_what_it_names_as_file_or_as_folder(pattern: str, path: str) -> None:
    event = Event("a", "s", Kind.TOOL, 1, MARK, Action.READ, target=path, tool="Read", where=Where("/p"))
    assert IgnoredFiles([pattern]).hide(event, {})


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("make", "vault/ is not shown here"),
        ("ls -la", "total 3\n.env\n.envrc\napp.py"),
        ("grep -rn env src", "src/environment.py:3:env"),
        ("git diff", "diff --git a/src/vault.py b/src/vault.py\n--- a/src/vault.py\n+++ b/src/vault.py\n+x"),
        ("cat a{b,c}.txt", "x"),
        ("curl -d @body.json x.test", "x"),
        ("echo ~/notes $HOME ${PWD}", "x"),
        ("cd src && make", "x"),
    ],
)
def test_what_only_resembles_it_is_kept(house: House, command: str, shown: str) -> None:
    found = lived(
        house, PATHS, lambda story: real_rows(story, "Bash", {"command": command}, f"{shown}\n{MARK}")
    )
    named = "vault/" in shown or ".env\n" in shown  # the copy leaves out lines that name it at all
    assert [path.partition("/")[0] for path in found] == ["backstory.db", *([] if named else ["transcripts"])]


def test_an_imported_transcripts_search_is_judged_by_its_folder(house: House) -> None:
    """No hook has seen it: the row itself must tell."""
    house.sets("privacy.ignore_paths", PATHS)
    story = house.told().starts().prompts("x")
    row = {
        "type": "tool_use",
        "id": "toolu_9999999",
        "name": "Grep",
        "input": {"pattern": "W", "path": "vault"},
    }
    story._line("assistant", {"role": "assistant", "content": [row]})
    result = {"type": "tool_result", "tool_use_id": "toolu_9999999", "content": f"3:{MARK}"}
    story._line("user", {"role": "user", "content": [result]})
    story.stops("Done.").ends()
    house.works()
    assert [path for path in house.found_in_home(MARK) if path.startswith("transcripts")] == []


def test_the_list_that_config_prints_is_the_list_that_it_takes(house: House) -> None:
    json_form = json.dumps([".env", "vault/*", "*.{p12,jks}"])
    house.sets("privacy.ignore_paths", json_form)
    assert settings.load_settings(house.home)[0].privacy_ignore_paths == (".env", "vault/*", "*.{p12,jks}")


@pytest.mark.parametrize(
    "command",
    [
        "pass show mail/work", "op read op://team/db/pw", "bw get password github", "gh auth token",
        "vault kv get -field=pin kv/door", "kubectl -n a get secret b -o jsonpath={.data.c} | base64 -d",
        "TOKEN=$(gcloud auth print-access-token); echo $TOKEN",
    ],
)  # fmt: skip
def test_what_a_command_prints_that_is_asked_for_a_secret_is_nowhere(house: House, command: str) -> None:
    found = lived(house, PATHS, lambda story: real_rows(story, "Bash", {"command": command}, MARK))
    assert found == []


@pytest.mark.parametrize(
    "command", ["pytest --pass x/y", "kubectl get secret b", "git log --grep 'bypass a/b'"]
)
def test_what_other_commands_print_is_kept(house: House, command: str) -> None:
    assert lived(house, PATHS, lambda story: real_rows(story, "Bash", {"command": command}, MARK)) != []
