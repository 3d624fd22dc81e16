"""Both hooks in one process, for Windows, where no POSIX shell can be counted on.

Same spool, same names, same trailer and marks as hook.sh. The worker is started without a console window;
not with DETACHED_PROCESS, which would make each of its console children open one of its own.
"""

import os
import sys

from backstory.hook import spool
from backstory.hook.agent_facts import facts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CREATE_NO_WINDOW = 0x08000000
CREATE_NEW_PROCESS_GROUP = 0x00000200
_EXPLANATION = "This is Backstory's hook: a coding agent runs it and sends an event to its stdin.\n"


def capture_stdin(home: str, agent: str, event: str, start: "Callable[[str], None] | None" = None) -> None:
    """Copy stdin into the spool, answer if the agent waits for it, wake the worker if it is time."""
    if os.environ.get("BACKSTORY_GUARD"):
        return
    if os.isatty(0):
        os.write(2, _EXPLANATION.encode())
        return
    from backstory.hook import __main__ as hook

    data, facts = hook.read_stdin(), facts_of(agent)
    lost = False
    try:
        if facts["notes"].get(event) != "before":  # what the tool did is told when it is done
            spool.write_spooled(os.path.join(home, "spool"), agent, event, data)
    except OSError as error:
        lost = True
        hook.log_error(home, agent, event, error)
    if event in facts["answers"] or event in facts["delivers"] or event in facts["notes"]:
        try:
            hook.write_all(1, hook.answer_hook(home, agent, event, data, lost).encode("utf-8", "replace"))
        except Exception as error:  # the worker is woken all the same
            hook.log_error(home, agent, event, error)
    if event in facts["wakes"]:
        (start or start_worker)(home)


def start_worker(home: str) -> None:
    """Start the worker so that neither a window nor one of the agent's pipes stays with it."""
    import subprocess

    subprocess.Popen(
        [sys.executable, "-I", "-m", "backstory.worker", home],
        creationflags=CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP if sys.platform == "win32" else 0,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        cwd=home,
        env={**os.environ, "BACKSTORY_GUARD": "1"},
    )
