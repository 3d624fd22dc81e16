"""Whatever the settings look like: ours come and go, theirs stay."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from backstory import jsonc
from backstory.capture import settings_entries

THEIR_HANDLERS = st.lists(
    st.fixed_dictionaries(
        {"type": st.just("command"), "command": st.text()}, optional={"timeout": st.integers()}
    )
    | st.just({"type": "http", "url": "http://localhost"})
    | st.none(),
    max_size=2,
)
OUR_COMMANDS = st.sampled_from(
    [
        "trap 'exit 0' EXIT; BACKSTORY_AGENT=claude-code BACKSTORY_EVENT=Stop; . '/old/hook/hook.sh'; exit 0",
        "BACKSTORY_AGENT=claude-code . /older/hook/hook.sh",
        "new command of BACKSTORY_AGENT=claude-code in /home/hook/hook.sh",
    ]
)
OURS = st.lists(
    st.fixed_dictionaries(
        {"type": st.just("command"), "command": OUR_COMMANDS}, optional={"timeout": st.just(9)}
    ),
    max_size=2,
)
GROUPS = st.lists(
    st.builds(
        lambda matcher, hooks: {**matcher, "hooks": hooks},
        st.sampled_from([{}, {"matcher": "Bash"}]),
        st.builds(lambda a, b, c: [*a, *b, *c], THEIR_HANDLERS, OURS, THEIR_HANDLERS),
    ),
    max_size=3,
)
SETTINGS = st.dictionaries(st.sampled_from(["model", "env"]), st.text(max_size=3)).flatmap(
    lambda rest: st.builds(
        lambda hooks: {**rest, "hooks": hooks},
        st.dictionaries(st.sampled_from(["Stop", "SessionStart", "PreToolUse"]), GROUPS),
    )
)
WANTED = {
    event: settings_entries.WantedHook("new command of BACKSTORY_AGENT=claude-code in /home/hook/hook.sh", 10)
    for event in ("SessionStart", "Stop", "SessionEnd")
}


def is_ours(handler: Any) -> bool:
    return bool(handler) and "BACKSTORY_AGENT" in handler.get("command", "")


def theirs(settings: Any) -> Any:
    """What is left when all of ours are gone; groups and events that held nothing else go with them."""
    kept: dict[str, Any] = {}
    for event, groups in settings.get("hooks", {}).items():
        for group in groups:
            handlers = [handler for handler in group["hooks"] if not is_ours(handler)]
            if handlers or not group["hooks"]:
                kept.setdefault(event, []).append({**group, "hooks": handlers})
    return {**{key: value for key, value in settings.items() if key != "hooks"}, "hooks": kept}


@given(SETTINGS, st.sampled_from([None, 2, "\t"]))
@settings(deadline=None)
def test_whatever_the_settings_ours_come_and_go_once_and_theirs_stay(before: Any, indent: Any) -> None:
    text = json.dumps(before, indent=indent)

    more, _ = settings_entries.put_entries(text, WANTED)

    value = jsonc.parse(more).value
    assert theirs(value) == theirs(before)
    found = settings_entries.our_entries(value)
    assert sorted(entry.event for entry in found) == sorted(WANTED)
    assert all(entry.is_as(WANTED[entry.event]) for entry in found)
    assert settings_entries.put_entries(more, WANTED) == (more, dict.fromkeys(WANTED, "keep"))
    less, _ = settings_entries.remove_entries(more)
    assert theirs(jsonc.parse(less).value) == theirs(before)
    assert settings_entries.our_entries(jsonc.parse(less).value) == []
    assert settings_entries.remove_entries(less) == (less, [])
