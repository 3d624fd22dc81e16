"""The use cases, the one waist between the surfaces (CLI, MCP, web) and the parts.

A surface opens an `App`, asks it for values, and prints them; it never touches store, spool or files itself.

context.py        one home, opened: its store, projects and settings; how work in it is done alone
queries.py        briefs, search, what lies behind a handle, handing over
annotations.py    what people say: notes to remember, judgements about memories
transfer.py       histories, documents and exports, in and out
status_report.py  how the memory is doing: numbers, jobs, calls of models
sharing.py        a team and one's own other machines: what leaves, what came, who is heard
maintenance.py    rebuilding, backups, repair, forgetting, cleaning
"""

from backstory.app.annotations import Annotations
from backstory.app.maintenance import Maintenance
from backstory.app.queries import EventView, MemoryView, Queries, SessionView, payload_state
from backstory.app.sharing import Sharing
from backstory.app.status_report import Status, StatusReports
from backstory.app.transfer import Transfer

__all__ = ["App", "EventView", "MemoryView", "SessionView", "Status", "payload_state"]


class App(Queries, Annotations, Transfer, StatusReports, Sharing, Maintenance):
    """Everything that can be asked of one home; close it, or use it in a `with`."""
