"""Every way in passes one gate: a private key and a token, sent through each, are in no byte of the home."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.agents import AGENTS
from backstory.paths import Home
from backstory.store import open_store
from tests.knowledge import book
from tests.mcp.server import Server
from tests.security.fake_secrets import fakes
from tests.story import House

TOKEN = "gh" + "p_" + "8R7q6P5o4N3m2L1k0J9i8H7g6F5e4D3c2B1a"
_KEY = next(fake for fake in fakes() if fake.family == "pem-pkcs8")
PEM, LINES = _KEY.text, _KEY.secrets[0].split("\n")
NEEDLES = (TOKEN, LINES[0], LINES[3], LINES[-1])
SAID = f"first {TOKEN}\n{PEM}\nlast"

WAYS: dict[str, Callable[[House, Path], None]] = {}


def way(made: Callable[[House, Path], None]) -> Callable[[House, Path], None]:
    WAYS[made.__name__.replace("_", " ")] = made
    return made


def run(house: House, *words: str, stdin: str = "") -> None:
    done = book.run(house, *words, stdin=stdin)
    assert done.exit_code == 0, done.output


def bytes_of_the_home(home: Home) -> dict[str, bytes]:
    """Each file of the home, unpacked if it is packed, and each payload of the database."""
    found = {}
    for path in sorted(home.root.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found[str(path.relative_to(home.root))] = (
                gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
            )
    store = open_store(home)
    for stored in store.events.latest(None, 0, 10_000):
        if stored.payload_size:
            found[f"payload of {stored.event.kind}, {stored.id}"] = (
                store.events.payload(stored.id) or ""
            ).encode()
    store.close()
    return found


@way
def live_hooks_of_every_agent(house: House, folder: Path) -> None:
    for agent in AGENTS.values():
        for hook in agent.hooks:
            payload = {
                "session_id": "s",
                "sessionId": "s",
                "cwd": str(house.project),
                "hook_event_name": hook.name,
                "prompt": SAID,
                "last_assistant_message": SAID,
                "prompt_response": SAID,
                "title": TOKEN,
                "tool_name": "Bash",
                "toolName": "bash",
                "tool_use_id": "t",
                "tool_input": {"command": SAID},
                "tool_response": {"stdout": SAID},
                "toolArgs": json.dumps({"command": SAID}),
                "error": SAID,
                "toolResult": {"textResultForLlm": SAID},
                "message": SAID,
                "compact_summary": SAID,
            }
            house.leaves(json.dumps(payload).encode(), hook.name, agent=agent.name)


@way
def a_session_with_its_transcript(house: House, folder: Path) -> None:
    story = house.told().starts().prompts(SAID).says(SAID).runs(f"deploy {TOKEN}", SAID)
    patch = {"structuredPatch": [{"oldStart": 1, "lines": ["+" + line for line in SAID.split("\n")]}]}
    story.uses("Edit", {"file_path": "a.py", "new_string": SAID}, patch).compacts(SAID).stops(SAID).ends()


@way
def lines_that_a_diff_or_a_quotation_marks(house: House, folder: Path) -> None:
    story = house.told().starts()
    for mark in ("-", "+", " ", "> "):
        lines = [mark + line for line in SAID.split("\n")]
        text = "\n".join(lines)
        patch = f"*** Begin Patch\n*** Update File: a.pem\n@@\n{text}\n*** End Patch"
        story.prompts(f"look at\n{text}").runs("git diff", f"@@ -1,9 +0,0 @@\n{text}\n")
        story.uses("Edit", {"file_path": "a.pem"}, {"structuredPatch": [{"oldStart": 1, "lines": lines}]})
        story.uses("apply_patch", {"input": patch, "packed": json.dumps({"patch": patch})}, text).stops(text)
    story.ends()


@way
def arguments_that_are_json_in_json(house: House, folder: Path) -> None:
    packed = json.dumps({"content": SAID, "more": json.dumps({"deep": SAID, "password": TOKEN})})
    house.session().prompts("go").uses("mcp__x__write", {"arguments": packed}, packed).stops("ok")


@way
def a_payload_that_cannot_be_read(house: House, folder: Path) -> None:
    whole = json.dumps({"session_id": "s", "prompt": SAID, "packed": json.dumps({"text": SAID})})
    house.leaves(whole[:-4].encode(), "UserPromptSubmit")
    house.leaves(whole.replace("B", "\\u0042")[:-2].encode(), "PostToolUse")


@way
def a_log_line_by_line(house: House, folder: Path) -> None:
    run(house, "log", "--append", "--file", "-", stdin=SAID)
    run(house, "log", "--append", *(f"--line={line}" for line in SAID.split("\n")))


@way
def remembering(house: House, folder: Path) -> None:
    run(house, "remember", SAID)


@way
def remembering_over_mcp(house: House, folder: Path) -> None:
    house.close()
    server = Server(house.home.root, house.project)
    try:
        server.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": TOKEN})
        server.call("remember", text=SAID)
    finally:
        server.process.kill()
        server.process.communicate()


@way
def importing_documents(house: House, folder: Path) -> None:
    docs = folder / "docs"
    docs.mkdir()
    (docs / "notes.md").write_text("# A\n\n" + "word " * 700 + f"\n{SAID}\n\n# B\n\nmore\n")
    (docs / f"{TOKEN}.md").write_text("# C\n\nin its name\n")
    run(house, "import", "docs", str(docs))


@way
def names_of_places(house: House, folder: Path) -> None:
    place = folder / f"x-{TOKEN}"
    place.mkdir()
    house.told(place, session=TOKEN).starts().prompts("go").stops("ok").ends()


@pytest.mark.parametrize("name", WAYS)
def test_a_key_and_a_token_are_in_no_byte_of_the_home(house: House, tmp_path: Path, name: str) -> None:
    WAYS[name](house, tmp_path)
    house.works()
    house.works()
    run(house, "backup")
    house.close()
    for place, data in bytes_of_the_home(house.home).items():
        for needle in NEEDLES:
            assert needle.encode() not in data, place


def test_scrub_finds_a_key_that_a_log_holds_line_by_line(house: House) -> None:
    run(house, "log", "--append", "--line", "hello")
    page = next(house.home.knowledge.rglob("daily/*.md"))
    page.write_text(page.read_text() + "".join(f"- 10:00 [user] {line}\n" for line in SAID.split("\n")))
    run(house, "scrub", "--yes")
    assert not [needle for needle in NEEDLES if needle in page.read_text()]
