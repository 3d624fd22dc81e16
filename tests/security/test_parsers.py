"""No bytes, however made, break a parser: it gives a value, or the error that it declares."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory import settings as user_settings
from backstory.agents import AGENTS, Unreadable
from backstory.agents.history_source import Trail
from backstory.agents.importable_histories import histories
from backstory.app import App
from backstory.capture import quarantine, settings_entries
from backstory.clock import parse_when
from backstory.errors import BackstoryError, UsageError
from backstory.hook import spool
from backstory.hook.payload import BadPayload, parse_payload
from backstory.hook.sanitize import sanitized_line
from backstory.mcp.json_rpc import Conversation
from backstory.model import Event
from backstory.paths import Home
from backstory.upkeep import event_archive
from tests.story import House

SAMPLES = Path(__file__).parents[1] / "wire" / "samples"
quick = settings(
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(st.characters(), max_size=40)
    | st.sampled_from(
        ["user", "assistant", "tool", "text", "Bash", "write", "2026-11-16T00:33:16Z", "", "\x00"]
    )
)


def samples() -> list[Any]:
    """Every JSON object that real clients sent or wrote."""
    found: list[Any] = []
    for path in sorted(SAMPLES.rglob("*.json*")):
        for line in [path.read_text()] if path.suffix == ".json" else path.read_text().splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
    return found


REAL = samples()
KEYS = sorted({key for row in REAL if isinstance(row, dict) for key in row})
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A real object with some of its values replaced by anything, at any depth."""
    row = json.loads(json.dumps(draw(st.sampled_from(REAL))))
    for _ in range(draw(st.integers(0, 4))):
        place = row
        while isinstance(place, dict | list) and place:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
                place = place[key]
                continue
            place[key] = draw(ANYTHING)
            break
    return row


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    """The bytes of such an object, whole, cut, or with other bytes in between."""
    data = json.dumps(draw(mutated()), ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    at = draw(st.integers(0, len(data)))
    return draw(st.sampled_from([data, data[:at], data[:at] + draw(st.binary(max_size=5)) + data[at:]]))


@quick
@given(broken() | st.binary(max_size=200))
def test_a_payload_is_an_object_or_bad(data: bytes) -> None:
    with contextlib.suppress(BadPayload):
        assert isinstance(parse_payload(data), dict)


@pytest.mark.parametrize("name", sorted(AGENTS))
@quick
@given(st.data())
def test_every_agents_hooks_give_events_or_say_unreadable(name: str, data: st.DataObject) -> None:
    agent = AGENTS[name]
    event = data.draw(st.sampled_from([hook.name for hook in agent.hooks] + ["", "Unheard"]))
    payload = data.draw(mutated() | st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=8))
    if not isinstance(payload, dict):
        return
    with contextlib.suppress(Unreadable):
        assert all(isinstance(found, Event) for found in agent.read_hook(event, payload, 1))


@pytest.mark.parametrize("name", sorted(histories()))
@quick
@given(lines=st.lists(broken() | st.binary(max_size=60), max_size=6))
def test_no_line_breaks_the_reader_of_any_history(name: str, lines: list[bytes], tmp_path: Path) -> None:
    whole = [line.replace(b"\n", b" ") + b"\n" for line in lines]
    history = histories()[name].history
    trail = Trail(tmp_path / "x.jsonl", sum(map(len, whole)), 1, 1, "s")
    reader = history.reader(trail, 0)
    found = [event for line in whole for event in reader.feed(line)] + reader.finish()
    assert all(isinstance(event, Event) for event in found)


@pytest.mark.parametrize("name", sorted(histories()))
@quick
@given(data=broken() | st.binary(max_size=300))
def test_no_file_breaks_the_search_for_histories(name: str, data: bytes, tmp_path: Path) -> None:
    history = histories()[name].history
    for file in ("a.jsonl", "session-1.json", "opencode.db", ".aider.chat.history.md", "x.md", "ses_1.json"):
        (tmp_path / file).write_bytes(data)
    for trail in history.find(tmp_path):
        with contextlib.suppress(OSError, BackstoryError):
            identified = history.identify(trail)
            for line in history.lines(identified, 0) if identified else ():
                assert isinstance(line, bytes)


@quick
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda b: b.decode("latin-1")))
def test_no_settings_file_breaks_anything(tmp_path: Path, text: str) -> None:
    home = Home(tmp_path)
    home.settings.write_text(text, "utf-8", "surrogatepass")
    loaded, problems = user_settings.load_settings(home)
    assert isinstance(loaded, user_settings.Settings)
    assert all(str(home.settings) in problem for problem in problems)


@quick
@given(
    st.sampled_from([row.key for row in user_settings.setting_rows(user_settings.Settings())] + ["no.such"]),
    st.text(),
)
def test_no_value_breaks_a_setting(tmp_path: Path, key: str, value: str) -> None:
    with contextlib.suppress(UsageError):
        user_settings.change_setting(Home(tmp_path), key, value)
    assert user_settings.load_settings(Home(tmp_path))[1] == []


@quick
@given(st.text(max_size=60))
def test_no_time_breaks_the_parser(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert isinstance(parse_when(text, None), int)


@quick
@given(st.text(max_size=80))
def test_no_name_breaks_the_spool(text: str) -> None:
    spool.parse_name(text)
    spool.parse_fail(text)


@quick
@given(st.text(st.characters(), max_size=300))
def test_what_is_injected_is_one_plain_line(text: str) -> None:
    line = sanitized_line(text)
    assert "\n" not in line
    assert line == sanitized_line(line)
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in line)


@quick
@given(st.text(max_size=120))
def test_no_agents_settings_break_the_install(text: str) -> None:
    with contextlib.suppress(BackstoryError, ValueError):
        settings_entries.parse_settings(text)


@quick
@given(st.binary(max_size=200))
def test_no_archive_breaks_its_reader(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / f"x{event_archive.SUFFIX}"
    path.write_bytes(data)
    assert isinstance(list(event_archive.archive_lines(path)), list)


@settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    files=st.lists(st.tuples(st.sampled_from(sorted(AGENTS)), broken() | st.binary(max_size=60)), max_size=5)
)
def test_whatever_is_spooled_is_stored_or_quarantined(house: House, files: list[tuple[str, bytes]]) -> None:
    """From the bytes to the brief: nothing raises, nothing stays."""
    for name, data in files:
        house.leaves(data, AGENTS[name].hooks[0].name, agent=name)
    house.works()
    assert house.spooled() == []
    assert house.left() <= {"done"}
    house.brief()
    quarantine.quarantined_files(house.home)


@settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(question=st.text(st.characters(), max_size=120))
def test_no_question_breaks_the_search(house: House, question: str) -> None:
    with App(house.home) as app, contextlib.suppress(BackstoryError):
        app.search(question, None)


@quick
@given(st.lists(broken() | st.binary(max_size=80), max_size=3))
def test_no_bytes_end_the_mcp_conversation(messages: list[bytes]) -> None:
    talk = Conversation("/nowhere")
    for message in messages:
        assert all(isinstance(answer, str) for answer in talk.hear(message))
