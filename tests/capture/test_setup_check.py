"""What doctor asks: whether each event's hook stands as install leaves it."""

from __future__ import annotations

import sys
from pathlib import Path

from backstory.capture.agent_setup import installed_hooks
from backstory.paths import Home

from . import desk
from .desk import CLAUDE, EVENTS, install

user, home, project, file = desk.user, desk.home, desk.project, desk.file


def states(home: Home, project: Path | None = None) -> set[tuple[str, str]]:
    return {(state.state, state.why) for state in installed_hooks(CLAUDE, home, project)}


def test_each_event_is_configured_missing_or_different(home: Home, file: Path, project: Path) -> None:
    assert states(home) == {("missing", "there is no hook of ours")}
    install(home, project)
    assert states(home) == {("missing", "there is no hook of ours")}
    assert states(home, project) == {("configured", "")}
    assert [state.event for state in installed_hooks(CLAUDE, home)] == EVENTS

    install(home)
    assert states(home) == {("configured", "")}
    assert states(Home(home.root.with_name("other"))) == {("differs", "it is of another home")}
    file.write_text(file.read_text().replace("trap 'exit 0' EXIT; ", ""))
    assert states(home) == {("differs", "it has an older form, or was changed by hand")}


def test_a_hook_without_its_files_or_its_interpreter_differs(home: Home) -> None:
    install(home)
    script = home.hook / "hook.sh"
    script.write_text(script.read_text().replace(sys.executable, "/gone/python"))
    assert states(home) == {("differs", "the interpreter of the hook is gone: /gone/python")}

    script.unlink()
    assert states(home) == {("differs", f"the hook's files in {home.hook} are missing")}
