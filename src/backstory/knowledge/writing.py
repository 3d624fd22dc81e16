"""The worker's part: sessions that are over go into their project's log, and a stale wiki is compiled.

It is done when nothing else is to be done, and looks at the pages themselves for what is still missing: a
worker that was killed leaves nothing to clean up, only work that the next one finds.
"""

import logging
import os
from collections.abc import Callable, Iterable
from functools import partial

from backstory import clock
from backstory.errors import BackstoryError
from backstory.knowledge import keeping
from backstory.knowledge.compiling import Compiled, Limits, compile_vault, stale
from backstory.knowledge.prose import Prose
from backstory.knowledge.vault import Vault, shared_vault, vault_of
from backstory.knowledge.writer import Writer
from backstory.model import Project
from backstory.paths import Home
from backstory.settings import Settings
from backstory.store import Store

log = logging.getLogger(__name__)
_MINUTE_MS = 60_000
_INTERVAL = "BACKSTORY_COMPILE_INTERVAL_MIN"


class Writing:
    """Writes down what a home knows; the caller holds the worker's lock."""

    def __init__(self, home: Home, settings: Settings, store: Store, writer: Writer | None = None) -> None:
        self._home = home
        self._settings = settings
        self._store = store
        self._writer = writer
        self._zone = clock.zone(settings.time_zone)

    def write_down(self, projects: Iterable[str], compacting: Iterable[str] = ()) -> None:
        """Log the sessions of these projects, and compile what is stale and due."""
        for sid in compacting:
            self._guarded(sid, partial(self._before_compaction, sid))
        for project_id in projects:
            project = self._store.events.project(project_id)
            if project is not None:
                self._guarded(project.name, partial(self._project, project))
        shared = shared_vault(self._home)
        if shared.root.is_dir() and stale(shared) and self.is_due(shared):
            self._guarded(shared.name, partial(self.compiled, shared, ""))

    def log_project(self, project: Project) -> int:
        """Bring a project's daily logs up to date; gives how many entries were written."""
        vault = vault_of(self._home, project)
        most = self._settings.distil_max_turns
        return keeping.keep_project(self._store, vault, project.id, self._zone, most)

    def compiled(self, vault: Vault, project_id: str, **wish: bool | str) -> Compiled:
        """Compile a vault now."""
        stamp = clock.stamp(clock.now_ms(), self._zone)
        limits = Limits(self._settings.knowledge_max_logs, self._settings.knowledge_max_seconds)
        prose = Prose(self._writer) if self._writer is not None else None
        done = compile_vault(
            vault,
            self._store,
            project_id,
            stamp,
            limits,
            everything=bool(wish.get("everything")),
            only=str(wish.get("only") or ""),
            dry=bool(wish.get("dry")),
            prose=prose,
        )
        if not wish.get("dry"):
            vault.set_state("compiled", {"at": clock.now_ms()})
        return done

    def is_due(self, vault: Vault) -> bool:
        """Whether the interval since the last compilation has passed."""
        last = int(vault.state("compiled").get("at", 0))
        return clock.now_ms() - last >= self._interval() * _MINUTE_MS

    def _interval(self) -> float:
        try:
            return float(os.environ.get(_INTERVAL, ""))
        except ValueError:
            return self._settings.knowledge_interval_minutes

    def _project(self, project: Project) -> None:
        self.log_project(project)
        vault = vault_of(self._home, project)
        if stale(vault) and self.is_due(vault):
            self.compiled(vault, project.id)

    def _before_compaction(self, sid: str) -> None:
        session = self._store.events.session(sid)
        project = self._store.events.project(session.project_id) if session is not None else None
        if session is not None and project is not None:
            vault = vault_of(self._home, project)
            keeping.keep_before_compaction(
                self._store, vault, session, self._zone, self._settings.distil_max_turns
            )

    def _guarded(self, what: str, run: Callable[[], object]) -> None:
        """One project's trouble must not stop the others'."""
        try:
            run()
        except (BackstoryError, OSError, ValueError, KeyError) as error:
            log.error("what is known of %s could not be written down: %s", what, error)
