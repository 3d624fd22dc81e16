"""What must not be kept is nowhere outside the spool: not in a text, not in a payload, not in the index."""

import json
import random
import string
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.agents import AGENTS
from backstory.capture import drain as drain_module
from backstory.capture.privacy import IGNORED, Privacy
from backstory.model import Action, Event, Kind
from backstory.settings import Settings
from tests.story import House, Story


def noise(size: int) -> str:
    """Characters as a key has them, the same each time."""
    rng = random.Random(size)
    return "".join(rng.choice(string.ascii_letters + string.digits) for _ in range(size))


KEY = "".join(("AK", "IA", "QX7ZP3RT9WLM", "K2VD"))
TOKEN = "ghp_" + "".join(reversed("8R7q6P5o4N3m2L1k0J9i8H7g6F5e4D3c2B1a"))
SECRETS = {
    "aws": KEY,
    "github": TOKEN,
    "slack": "xoxb-" + "123456789012-1234567890123-" + "AbCdEfGhIjKlMnOpQrStUvWx",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "openai": "sk-proj-" + noise(48),
    "anthropic": "sk-ant-api03-" + noise(93),
    "google": "AIza" + "SyD4x9Q2w8E7r6T5y4U3i2O1p0A9s8D7f6G",
    "jwt": ".".join(
        ("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1g")
    ),
    "pem": "-----BEGIN RSA "
    + "PRIVATE KEY-----\n"
    + "MIIEow"
    + noise(900)
    + "\n-----END RSA "
    + "PRIVATE KEY-----",
    "assigned": "DB_PASSWORD=" + "tr0ub4dor-and-3",
    "url": "postgres://shop:" + "s3cr3t-pass" + "@db.internal.example/shop",
}
PERSONAL = {
    "email": "jane.roe" + "@corp-mail.net",
    "ip": "203.0.114." + "77",
    "ssn": "536-22-" + "8726",
    "card": "4539 1488 0343 " + "6467",
    "phone": "+1 (415) 867-" + "5309",
}


def marks(secret: str) -> list[str]:
    """What a byte search looks for: the secret, or of a long one its middle and its end."""
    line = max(secret.splitlines(), key=len)
    needle = line.partition("=")[2] or line.partition("shop:")[2].partition("@")[0] or line
    return [needle] if len(needle) < 60 else [needle[:40], needle[-40:]]


def kept(house: House, needle: str) -> list[str]:
    """Where in the home the words lie: any file's bytes, and the payloads, which are compressed."""
    events = house.store.events
    bodies = [(s.event.kind, events.payload(s.id)) for s in events.latest(None, 0, 10_000) if s.payload_size]
    found = [f"payload of {kind}" for kind, body in bodies if needle in str(json.loads(body or "null"))]
    return found + house.found_in_home(needle)


@pytest.fixture
def story(house: House) -> Story:
    return house.session()


class TestSecrets:
    """CCE-65, CCE-66: known shapes of secrets, also in raw payloads."""

    @pytest.mark.parametrize("name", SECRETS)
    def test_a_secret_is_nowhere_outside_the_spool(self, house: House, name: str) -> None:
        secret = SECRETS[name]
        story = house.told()
        story.starts().prompts(f"use {secret} please").says(f"I will use {secret} now")
        story.runs(f"deploy --with '{secret}'", f"using {secret}\ndone").runs(
            "x", fails=f"Exit code 1\nbad {secret}"
        )
        story.writes("config.py", f"value = '{secret}'\n").edits("config.py", secret, f"other {secret}")
        story.uses("WebFetch", {"url": "https://example.org", "prompt": secret}, {"result": f"{secret} ok"})
        story.compacts(f"the secret is {secret}").stops(f"Done with {secret}.").breaks(f"error with {secret}")
        story.ends()
        house.works()
        assert len(house.events(story)) >= 12
        for needle in marks(secret):
            assert kept(house, needle) == []
        assert house.found_in_home("[redacted:") != []

    def test_a_placeholder_is_kept(self, house: House, story: Story) -> None:
        story.runs("export API_KEY=your-api-key-here", "ok").runs("echo $GITHUB_TOKEN", "***")
        house.works()
        assert [e.target for e in house.events(story)] == [
            "export API_KEY=your-api-key-here",
            "echo $GITHUB_TOKEN",
        ]

    def test_a_secret_that_the_excerpt_would_cut_in_half_is_gone_whole(
        self, house: House, story: Story
    ) -> None:
        """The text of an event keeps both ends of a long output; half a key is recognised by nobody."""
        pem = SECRETS["pem"]
        for before, after in ((600, 4_000), (745, 4_000), (4_000, 20), (4_000, 300), (4_000, 600)):
            story.runs("cat it", "a " * (before // 2) + pem + " b" * (after // 2))
        house.works()
        for part in (pem[40:70], pem[300:330], pem[-80:-40]):
            assert kept(house, part) == []

    def test_in_a_transcript_it_is_gone_before_the_cut_too(self, house: House) -> None:
        story = house.told()
        pem = SECRETS["pem"]
        story.prompts("go")
        for before, after in ((1_300, 6_000), (6_000, 1_300), (6_000, 1_700)):
            story.says("x " * (before // 2) + pem + " y" * (after // 2))
        story.stops("Done.")
        house.works()
        assert sum(e.kind is Kind.SAID for e in house.events(story)) == 4
        for part in (pem[40:70], pem[300:330], pem[-80:-40]):
            assert kept(house, part) == []

    def test_every_event_of_a_payload_is_redacted_not_only_the_first(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def three(name: str, payload: Any, at: int) -> list[Event]:
            words = payload["prompt"]
            return [
                Event(
                    "claude-code",
                    payload["session_id"],
                    Kind.TOOL,
                    at,
                    words,
                    native_id=n,
                    target=words,
                    reason=words,
                )
                for n in "abc"
            ]

        monkeypatch.setattr(
            drain_module, "AGENTS", {"claude-code": replace(AGENTS["claude-code"], read_hook=three)}
        )
        story.prompts(f"token {TOKEN}")
        house.works()
        assert len(house.events(story)) == 3
        assert kept(house, TOKEN) == []

    @pytest.mark.parametrize("how", ["utf-16", "utf-16-le", "escaped", "slashes", "latin-1"])
    def test_no_way_of_writing_a_payload_hides_a_secret(self, house: House, story: Story, how: str) -> None:
        text = json.dumps(
            story.payload("UserPromptSubmit", prompt=f"use {TOKEN} and {SECRETS['url']} caf\u00e9")
        )
        if how == "escaped":
            text = text.replace("ghp_", "\\u0067hp\\u005f")
        if how == "slashes":
            text = text.replace("/", "\\/")
        data = text.encode(how) if how.startswith("utf") else text.replace("\\u00e9", "é").encode("latin-1")
        house.leaves(data, "UserPromptSubmit")
        house.works()
        assert len(house.events(story)) == 1
        assert kept(house, TOKEN) == []
        assert kept(house, "s3cr3t-pass") == []

    def test_quarantine_is_redacted_too(self, house: House) -> None:
        house.leaves(b'{"broken": "' + TOKEN.encode() + b'", \xff')
        house.works()
        (file,) = [p for p in house.home.quarantine.iterdir() if not p.name.endswith(".reason")]
        assert b"[redacted:" in file.read_bytes()
        assert kept(house, TOKEN) == []

    def test_an_error_that_ended_a_turn_is_redacted_in_its_reason(self, house: House, story: Story) -> None:
        story.prompts("go").breaks(f"invalid key {TOKEN}")
        house.works()
        assert "[redacted:" in house.events(story)[-1].reason

    def test_redacting_more_later_does_not_make_two_of_one_event(self, house: House, story: Story) -> None:
        """The key of an event is made before it is redacted."""
        house.sets("privacy.redact_off", "email")
        story.prompts(f"write to {PERSONAL['email']}", prompt_id="p1").stops(f"wrote to {PERSONAL['email']}")
        house.works()
        house.sets("privacy.redact_off", "")
        story.stops(f"wrote to {PERSONAL['email']}")
        house.works()
        assert [e.kind for e in house.events(story)] == [Kind.PROMPT, Kind.SAID, Kind.TURN_ENDED]


class TestNames:
    """CCE-66: what an event is called by can hold a secret too; keys are hashed before it goes."""

    def git(self, folder: Path, *arguments: str) -> None:
        run = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(folder), *arguments)
        subprocess.run(run, check=True, capture_output=True)

    def test_a_secret_in_the_name_of_a_folder_or_a_branch_is_not_stored(
        self, house: House, tmp_path: Path
    ) -> None:
        folder = tmp_path / f"with-{TOKEN}" / "shop"
        folder.mkdir(parents=True)
        self.git(folder, "init", "-q", "-b", "main")
        self.git(folder, "commit", "-q", "--allow-empty", "-m", "one")
        self.git(folder, "worktree", "add", "-q", "-b", f"fix/{KEY}", str(folder.parent / f"tree-{KEY}"))
        for cwd in (folder, folder.parent / f"tree-{KEY}"):
            story = house.session(cwd)
            story.starts().prompts("Fix the discount").runs("pytest", "ok").stops("Fixed.").ends()
            house.works()
            assert len(house.events(story)) == 6
            assert "[redacted:" in house.row(story).cwd
            assert "Fix the discount" in house.brief(cwd).text
        assert "[redacted:" in house.row(story).branch
        assert len(house.store.projects.all()) == 1, "worktrees share, whatever they are called"
        for secret in (TOKEN, KEY):
            assert kept(house, secret) == []

    def test_two_folders_that_only_a_secret_tells_apart_stay_two(self, house: House, tmp_path: Path) -> None:
        stories: list[Story] = []
        for secret in (TOKEN, TOKEN.replace("a1B2", "z9Y8")):
            folder = tmp_path / secret
            folder.mkdir()
            stories.append(house.session(folder).prompts(f"Fix number {len(stories)}").stops("Fixed."))
        house.works()
        assert len({house.row(story).project_id for story in stories}) == 2
        for story in stories:
            Path(story.cwd).rmdir()
            again = house.session(story.cwd).prompts("Go on")
            house.works()
            assert house.row(again).project_id == house.row(story).project_id, "also when it is gone"

    def test_a_secret_in_an_id_or_the_name_of_a_tool_is_not_stored(
        self, house: House, tmp_path: Path
    ) -> None:
        """The session is known by the whole of its id all the same."""
        other = TOKEN.replace("a1B2", "z9Y8")
        for session in (TOKEN, other):
            transcript = tmp_path / "transcripts" / f"{session}.jsonl"
            story = (
                house.session(session=session, transcript=transcript).starts().prompts("go", prompt_id=KEY)
            )
            story.uses(f"mcp__{SECRETS['slack']}__get", {}, "ok", tool_use_id=SECRETS["stripe"])
            child = story.delegates(f"reviewer {TOKEN}")
            child.subagent = SECRETS["google"]
            child.runs("pytest", "ok").stops("Checked.")
            story.says("So far.").stops("Done.").ends()
            house.works()
            house.works()
            assert [e.kind for e in house.events(story)][-1] == Kind.SESSION_ENDED
            assert house.row(story).native_id.startswith("[redacted:github-token]~")
            assert house.row(child).parent_id == house.row(story).id
            assert house.stored(story)[0].event.session == house.row(story).native_id
        assert len(house.store.events.sessions()) == 2
        for secret in (TOKEN, other, KEY, *(SECRETS[name] for name in ("slack", "stripe", "google"))):
            assert kept(house, secret) == []

    def test_nor_in_what_a_transcript_says(self, house: House, tmp_path: Path) -> None:
        cwd = tmp_path / TOKEN
        story = house.told(cwd).starts().prompts("go").says("Working.")
        story.uses(f"mcp__{KEY}", {}, "ok").stops("Done.")
        for name in house.spooled():
            if ".PostToolUse." in name:
                (house.home.spool / name).unlink()
        house.works()
        assert [e.tool for e in house.events(story) if e.kind is Kind.TOOL] == [
            "mcp__[redacted:aws-access-key]"
        ]
        assert kept(house, TOKEN) == []
        assert kept(house, KEY) == []

    def test_an_address_in_the_path_of_a_folder_stays_or_it_would_not_be_found(
        self, house: House, tmp_path: Path
    ) -> None:
        folder = tmp_path / f"Drive-{PERSONAL['email']}"
        folder.mkdir()
        story = house.session(folder).prompts("go")
        house.works()
        assert house.row(story).cwd == str(folder)


class TestPersonalData:
    """CCE-64."""

    @pytest.mark.parametrize("name", PERSONAL)
    def test_it_is_redacted_before_it_is_stored(self, house: House, story: Story, name: str) -> None:
        words = PERSONAL[name]
        story.prompts(f"call or write: {words} today").runs("log", f"from {words} came\n").stops(
            f"Told {words}."
        )
        house.works()
        assert len(house.events(story)) == 4
        assert kept(house, words) == []

    def test_localhost_and_private_addresses_and_versions_are_kept(self, house: House, story: Story) -> None:
        text = "127.0.0.1:8080 and 192.168.1.20 and 10.0.0.7 run version 1.2.3.4"
        story.runs("ps", text)
        house.works()
        assert house.events(story)[0].text == text

    def test_each_row_can_be_switched_off(self, house: House, story: Story) -> None:
        house.sets("privacy.redact_off", "email")
        story.prompts(f"write to {PERSONAL['email']} from {PERSONAL['ip']}")
        house.works()
        (event,) = house.events(story)
        assert PERSONAL["email"] in event.text
        assert PERSONAL["ip"] not in event.text


class TestPrivate:
    def test_private_spans_are_gone(self, house: House, story: Story) -> None:
        story.prompts("deploy <private>the plan is\nmoonbase</private> tonight").stops(
            "<private>moonbase</private> ok"
        )
        house.works()
        assert house.events(story)[0].text == "deploy [private] tonight"
        assert kept(house, "moonbase") == []

    def test_a_prompt_that_is_private_as_a_whole_is_still_a_turn(self, house: House, story: Story) -> None:
        story.prompts("<private>moonbase</private>").runs("make", "ok")
        house.works()
        assert [e.text for e in house.events(story)] == ["[private]", "ok"]
        assert kept(house, "moonbase") == []


class TestIgnoredFiles:
    CONTENT = "the quick brown moonbase"

    @pytest.mark.parametrize(
        "path", [".env", "config/.env.production", "/x/server.pem", "id_rsa", "keys/id_ed25519.pub"]
    )
    def test_the_content_of_an_ignored_file_is_not_kept(self, house: House, story: Story, path: str) -> None:
        story.reads(path, self.CONTENT).writes(path, self.CONTENT).edits(path, "a", self.CONTENT)
        house.works()
        assert [e.text for e in house.events(story)] == [IGNORED] * 3
        assert all(e.target.endswith(path) for e in house.events(story))
        assert kept(house, "moonbase") == []

    @pytest.mark.parametrize(
        "command",
        ["cat .env", "source '.env' && make", "grep x <.env", "docker run --env-file=.env shop", "cat a/b/.env.local | head",
         "echo $(cat server.pem)", "cat \"my dir/.env\""],
    )  # fmt: skip
    def test_nor_the_output_of_a_command_that_names_one(
        self, house: House, story: Story, command: str
    ) -> None:
        story.runs(command, self.CONTENT).runs(command, fails=f"Exit code 1\n{self.CONTENT}")
        house.works()
        assert [e.text for e in house.events(story)] == [IGNORED, IGNORED]
        assert kept(house, "moonbase") == []

    @pytest.mark.parametrize(
        "command", ["cat .envrc-docs.md", "printenv", "cat pem.py", "ls environment", "git log"]
    )
    def test_other_commands_keep_theirs(self, house: House, story: Story, command: str) -> None:
        story.runs(command, "plain output")
        house.works()
        assert [e.text for e in house.events(story)] == ["plain output"]

    def test_nor_what_a_search_found_in_one(self, house: House, story: Story) -> None:
        story.uses(
            "Grep", {"pattern": "PASS", "path": ".env"}, {"mode": "content", "content": f"3:{self.CONTENT}"}
        )
        story.uses(
            "Grep", {"pattern": "PASS"}, {"mode": "content", "content": f"a.py:1:x\n.env:3:{self.CONTENT}"}
        )
        story.uses("Grep", {"pattern": "def"}, {"mode": "content", "content": "a.py:1:def plain():"})
        house.works()
        assert [e.text for e in house.events(story)] == [IGNORED, IGNORED, "a.py:1:def plain():"]
        assert kept(house, "moonbase") == []

    def test_in_a_transcript_it_is_left_out_as_well(self, house: House) -> None:
        story = (
            house.told()
            .prompts("go")
            .reads(".env", self.CONTENT)
            .runs("cat .env", self.CONTENT)
            .stops("Done.")
        )
        for name in house.spooled():  # hooks did not get through, only the transcript knows
            if ".PostToolUse." in name:
                (house.home.spool / name).unlink()
        house.works()
        assert [e.text for e in house.events(story) if e.kind is Kind.TOOL] == [IGNORED, IGNORED]
        assert kept(house, "moonbase") == []

    def test_with_an_empty_list_everything_is_kept(self, house: House, story: Story) -> None:
        house.sets("privacy.ignore_paths", "")
        story.runs("cat .env", "plain output")
        house.works()
        assert [e.text for e in house.events(story)] == ["plain output"]


def test_events_that_read_differently_once_redacted_are_redacted_themselves() -> None:
    told = Event("a", "s", Kind.TURN_FAILED, 1, f"bad {TOKEN}", target=f"x {TOKEN}", reason=f"key {TOKEN}")
    (clean,) = Privacy(Settings()).excerpts([told], [])
    assert TOKEN not in clean.text + clean.target + clean.reason


@given(
    st.lists(st.sampled_from([".env", "*.pem", "id_*", "[ab]c", "?", "*", "*/secret/*", "[]x]"]), max_size=3),
    st.lists(
        st.sampled_from([".env", "x.pem", "id_rsa", "ac", "]", "/a/secret/b", "make", "-q", "y"]), max_size=5
    ),
)
def test_the_quick_look_at_a_command_misses_nothing(globs: list[str], words: list[str]) -> None:
    """Commands are first searched for the literal parts of the globs; that must not change the answer."""
    privacy = Privacy(replace(Settings(), privacy_ignore_paths=tuple(globs)))
    command = Event("a", "s", Kind.TOOL, 1, "out", Action.RUN, target=" ".join(words))
    one_by_one = [Event("a", "s", Kind.TOOL, 1, "out", Action.READ, target=word) for word in words]
    hidden = privacy.hidden(command).text == IGNORED
    assert hidden == any(privacy.hidden(event).text == IGNORED for event in one_by_one)


def test_a_folder_may_be_named_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/jane")
    privacy = Privacy(replace(Settings(), privacy_ignore_projects=("~/secret",)))
    event = Event("a", "s", Kind.PROMPT, 1)
    for cwd, refused in (
        ("/home/jane/secret", True),
        ("/home/jane/secret/x", True),
        ("/home/jane/secrets", False),
    ):
        assert bool(privacy.refuses(replace(event, where=replace(event.where, cwd=cwd)))) is refused
