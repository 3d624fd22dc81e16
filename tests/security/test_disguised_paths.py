"""What `<private>`, `privacy.ignore_paths` and `privacy.ignore_projects` hide, in whatever disguise it comes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from backstory.capture.privacy import IGNORED, Privacy
from backstory.hook.redact import Redactor
from backstory.model import Action, Event, Kind, Where
from backstory.settings import Settings
from tests.story import House


def ignoring(*paths: str, projects: tuple[str, ...] = ()) -> Privacy:
    return Privacy(replace(Settings(), privacy_ignore_paths=paths, privacy_ignore_projects=projects))


def tool(
    action: Action, target: str, text: str = "what it shows", cwd: str = "/p", name: str = "Tool"
) -> Event:
    return Event("a", "s", Kind.TOOL, 1, text, action, target=target, tool=name, where=Where(cwd))


@pytest.mark.parametrize(
    "event",
    [
        tool(Action.READ, "/p/.ENV"),
        tool(Action.READ, "/p/secrets/a.txt"),
        tool(Action.READ, "a.txt", cwd="/p/secrets"),
        tool(Action.READ, "../secrets/a.txt", cwd="/p/src"),
        tool(Action.RUN, "cat secrets/a.txt"),
        tool(Action.RUN, "cd secrets && cat a.txt"),
        tool(Action.RUN, "cd /p/secrets; cat a.txt"),
        tool(Action.RUN, "cat a.txt", cwd="/p/secrets"),
        tool(Action.RUN, "ls secrets"),
        tool(Action.RUN, "grep -rn key .", "src/a.py:1:key = 1\nsecrets/a.txt:2:what it shows"),
        tool(Action.RUN, "git diff", "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n+what it shows"),
        tool(Action.RUN, "head *", "==> .env <==\nwhat it shows"),
        tool(Action.FIND, "key", ".Env:1:what it shows"),
        tool(Action.NONE, "/p/secrets/a.txt", name="mcp__files__read_text"),
    ],
    ids=lambda event: f"{event.action}-{event.target}",
)
def test_an_ignored_file_is_ignored_however_it_is_named(event: Event) -> None:
    assert ignoring(".env", "secrets/*").hidden(event).text == IGNORED


@pytest.mark.parametrize(
    "event",
    [
        tool(Action.READ, "/p/src/secrets.py"),
        tool(Action.RUN, "make test", "secrets/ is not shown here"),
        tool(Action.RUN, "cd src && cat a.txt"),
        tool(Action.NONE, "/p/src/env.py", name="mcp__files__read_text"),
    ],
    ids=lambda event: event.target,
)
def test_what_only_resembles_it_is_kept(event: Event) -> None:
    assert ignoring(".env", "secrets/*").hidden(event).text == event.text


def test_an_mcp_server_is_judged_by_its_inputs() -> None:
    event = tool(Action.NONE, "", name="mcp__files__read")
    payload = {"tool_input": {"files": [{"path": "/p/secrets/a.txt"}]}, "tool_response": "what it shows"}
    events, body = ignoring("secrets/*").cleaned([event], payload, "", lambda clean: [event])
    assert (events[0].text, body) == (IGNORED, "")


MARK = "QZMARK"


@pytest.mark.parametrize(
    "command",
    [
        f"cat > .env <<EOF\nA={MARK}\nEOF",
        f"echo A={MARK} >> .env",
        f"echo {MARK} | tee .env",
        f"sed -i 's/a/{MARK}/' .env",
        f"printf '{MARK}' > secrets/k",
        f"printf '{MARK}' >secrets/k",
        f"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: .env\n+A={MARK}\n*** End Patch\nEOF",
        f"git show HEAD:.env | grep {MARK}",
        f"git show HEAD:secrets/x.txt | grep {MARK}",
        f"git -C . show :.env | grep {MARK}",
        f"cat .e* | grep {MARK}",
        f"cat .en? | grep {MARK}",
        f"cat .* | grep {MARK}",
        f"cat .??v | grep {MARK}",
        f"cat .??[u-w] | grep {MARK}",
        f"cat .[e]nv | grep {MARK}",
        f"cat .e\\nv | grep {MARK}",
        f"cat .e''nv | grep {MARK}",
        f"rg {MARK} -g '.env*'",
        f"rg {MARK} --glob=.env.*",
        f"cat sec*/x.txt | grep {MARK}",
        f"cat key.p* | grep {MARK}",
    ],
)
def test_a_command_that_names_an_ignored_file_is_kept_neither_as_command_nor_as_output(command: str) -> None:
    event = tool(Action.RUN, command, f"shows {MARK}")
    privacy = ignoring(".env", ".env.*", "secrets/*", "*.pem")
    assert MARK not in repr(privacy.hidden(event))
    events, body = privacy.cleaned([event], {"tool_input": {"command": command}}, "{}", lambda clean: [event])
    assert MARK not in repr(events) + body
    assert events[0].text == IGNORED


@pytest.mark.parametrize(
    ("action", "given", "answer"),
    [
        (Action.FIND, {"pattern": "x", "path": "secrets"}, f"1:{MARK}"),
        (Action.FIND, {"pattern": "x", "glob": ".env*"}, f"1:{MARK}"),
        (Action.FIND, {"pattern": "x"}, f"Found 1 match:\n---\nFile: .env\nL1: {MARK}\n---"),
        (Action.FIND, {"pattern": "x"}, f"secrets/x.txt\n3:foo {MARK}\n\na.py\n1:x"),
        (Action.FIND, {"pattern": "x"}, f"\x1b[1m--- a/.env\x1b[m\n\x1b[31m-A={MARK}\x1b[m"),
        (Action.RUN, {"command": "cat x.txt", "dir_path": "secrets"}, MARK),
        (Action.RUN, {"command": "cat x.txt", "workdir": "/p/secrets"}, MARK),
        (Action.OTHER, {"directory": "secrets", "name": "x.txt"}, MARK),
        (Action.OTHER, {"directory": "/p", "name": "secrets/x.txt"}, MARK),
        (Action.OTHER, {"input": f"*** Begin Patch\n*** Update File: .env\n-A={MARK}\n*** End Patch"}, "ok"),
    ],
)
def test_a_tool_is_judged_by_the_folder_and_the_glob_that_it_is_given(
    action: Action, given: dict[str, str], answer: str
) -> None:
    target = given.get("command") or given.get("pattern") or str(given)
    event = tool(action, target, answer)
    payload = {"tool_input": given, "tool_response": answer}
    events, body = ignoring(".env", "secrets/*").cleaned([event], payload, "{}", lambda clean: [event])
    assert MARK not in repr(events) + body


def test_a_patch_of_two_files_keeps_nothing_of_the_ignored_one_in_its_payload() -> None:
    patch = f"*** Begin Patch\n*** Update File: a.py\n+x\n*** Add File: .env\n+A={MARK}\n*** End Patch"
    event = tool(Action.EDIT, "a.py", "+x")
    for given in ({"tool_input": {"command": patch}}, {"toolArgs": patch}):
        events, body = ignoring(".env").cleaned([event], given, json.dumps(given), lambda clean: [event])
        assert (events[0].text, body) == ("+x", "")


@pytest.mark.parametrize(
    "command",
    """ls *.py|pytest tests/test_*|rm -rf dist/*|grep -rn 'foo.*bar' src|wc -l *|find . -name '*.ts'
    git show HEAD:src/env.py|echo x > out.env.txt|cat environment|npm run secrets:check|rg -g '!*.lock' key
    cat src/**/*.py|sed -i 's/a/b/' a.py|docker compose exec db ls""".replace("\n", "|").split("|"),
)
def test_a_command_with_wildcards_for_other_files_is_kept(command: str) -> None:
    event = tool(Action.RUN, command.strip())
    assert ignoring(".env", ".env.*", "secrets/*", "*.pem").hidden(event) == event


def test_a_link_to_an_ignored_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "a.txt").write_text("x")
    (tmp_path / "notes.txt").symlink_to(tmp_path / "secrets" / "a.txt")
    event = tool(Action.READ, "notes.txt", cwd=str(tmp_path))
    assert ignoring("secrets/*").hidden(event).text == IGNORED


def test_an_ignored_project_is_ignored_by_link_and_detour(tmp_path: Path) -> None:
    (tmp_path / "client" / "src").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "client")
    privacy = ignoring(projects=(str(tmp_path / "client"),))
    by_link = ignoring(projects=(str(tmp_path / "link"),))
    for cwd in ("client", "client/src", "link", "link/src", "other/../client"):
        event = tool(Action.RUN, "make", cwd=str(tmp_path / cwd))
        assert privacy.refuses(event) == "ignored", cwd
        assert by_link.refuses(event) == "ignored", cwd
    assert privacy.refuses(tool(Action.RUN, "make", cwd=str(tmp_path / "other"))) == ""


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a < private >b</private> c", "a [private] c"),
        ("a < Private >b< /PRIVATE > c", "a [private] c"),
        ("a &lt;private&gt;b&lt;/private&gt; c", "a [private] c"),
        ("+<private>\n+b\n+</private>\n c", "+[private]\n c"),
        ("b</private> c", "[private] c"),  # opened in the message before
        ("a <private>b", "a [private]"),
        ("</private> a", "</private> a"),
    ],
)
def test_a_private_span_is_one_in_any_spelling(text: str, clean: str) -> None:
    assert Redactor().redact(text) == clean
    assert Redactor().redact(clean) == clean


def test_a_private_span_reaches_over_the_blocks_of_a_message_and_the_lines_of_a_patch() -> None:
    blocks = [{"type": "text", "text": text} for text in ("a <private>b", "c", "d</private> e", "f")]
    clean = Redactor().redact_json({"content": blocks, "lines": ["+<private>", "+b", "+</private>", " e"]})
    assert clean == {
        "content": [
            {"type": "text", "text": text} for text in ("a [private]", "[private]", "[private] e", "f")
        ],
        "lines": ["+[private]", " e"],
    }


def test_a_command_that_names_many_files_in_many_folders_is_left_out_instead_of_looked_through() -> None:
    """A command of 6 kB in a deep folder took the worker minutes, again and again."""
    deep = "/tmp/" + "d/" * 1000
    same = ignoring(".env").told(tool(Action.RUN, "cd a && " * 500 + "ls", cwd=deep), Where(deep))
    assert same.text == "what it shows"
    many = " && ".join(f"cd a{number} && cat b{number}" for number in range(300))
    assert ignoring(".env").told(tool(Action.RUN, many, cwd=deep), Where(deep)).text == IGNORED


def test_a_brief_from_the_spool_tells_nothing_of_a_command_on_an_ignored_file(house: House) -> None:
    house.sets("privacy.ignore_paths", ".env,secrets/*")
    house.works()
    story = house.session().starts().prompts("Look")
    story.runs(f"git show HEAD:.env | grep {MARK}", "x").runs(f"echo {MARK} >> .env", "x").runs(
        "make test", "ok"
    )
    text = house.brief().text
    assert "make test" in text
    assert MARK not in text
