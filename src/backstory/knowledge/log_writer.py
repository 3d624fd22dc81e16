"""The worker's part: sessions that are over go into their project's log, and a stale wiki is compiled.

Each is a job, so that it is tried again if it fails and seen if it keeps failing. What is to be done is found
by looking at the pages themselves: a worker that was killed leaves nothing to clean up.
"""

import logging
import os
import time
from pathlib import Path
from typing import Any

from backstory import clock
from backstory.knowledge import lint_checks, log_state, model_prose
from backstory.knowledge.compiler import Compiled, Limits, compile_vault, stale_logs
from backstory.knowledge.index_page import put_log
from backstory.knowledge.lint_checks import Issue
from backstory.knowledge.log_notes import load_standing
from backstory.knowledge.page_transaction import Changes, take_back
from backstory.knowledge.skipped_work import record_skip, take_skips
from backstory.knowledge.vault import SHARED, Vault, shared_vault, vault_of
from backstory.knowledge.vault_export import Exported, export_vault, folder_for
from backstory.knowledge.writer_protocol import Writer
from backstory.llm.model_provider import OFF
from backstory.model import Project
from backstory.paths import Home
from backstory.settings import Settings
from backstory.store import Store
from backstory.store.job_queue import COMPILE, LINT, PROSE

log = logging.getLogger(__name__)
_MINUTE_MS = 60_000
_INTERVAL = "BACKSTORY_COMPILE_INTERVAL_MIN"


class LogWriter:
    """Writes down what a home knows; what is the worker's is called with its lock held."""

    def __init__(self, home: Home, settings: Settings, store: Store) -> None:
        self._home = home
        self._settings = settings
        self._store = store
        self._zone = clock.zone(settings.time_zone)

    # --- jobs --------------------------------------------------------------------------------------------

    def day(self, subject: str) -> None:
        """The log of a project, or of a session that is about to be compacted; asks for what follows."""
        session = self._store.events.session(subject) if subject.startswith("s") else None
        project = self._store.projects.get(session.project_id if session is not None else subject)
        if project is None:
            return
        vault = vault_of(self._home, project)
        if session is not None:
            most = self._settings.distil_max_turns
            log_state.keep_before_compaction(self._store, vault, session, self._zone, most)
        else:
            self.log_project(project)
        self._ask_for_compilation(project.id, vault)

    def look_at_what_is_shared(self) -> None:
        """Ask for its compilation: its lines come from commands, not from sessions."""
        if (shared := shared_vault(self._home)).root.is_dir():
            self._ask_for_compilation(SHARED, shared)

    def compile(self, subject: str) -> None:
        """The wiki of a project, or of what is shared."""
        vault, project_id = self._of(subject)
        if vault is None:
            return
        done = self.compiled(vault, project_id, prose=self._settings.model_wiki)
        project = self._store.projects.get(project_id)
        if project is not None:
            self.exported(vault, project)
        for day in done.damaged:
            log.warning("%s: what was compiled of %s is damaged; it waits for a person", vault.name, day)
        with self._store.transaction():
            now = clock.now_ms()
            if vault.state("linted").get("day") != clock.day_of(now, self._zone):
                self._store.jobs.ask(LINT, subject, now)
            if done.left:
                self._store.jobs.ask(COMPILE, subject, now, now + self._interval_ms())

    def lint(self, subject: str) -> None:
        """A check of a wiki, once a day at most, without a model; a report if there is something to say."""
        vault, _ = self._of(subject)
        if vault is None:
            return
        with vault.held():
            found = lint_checks.lint_vault(vault)
            if any(issue.severity != "suggestion" for issue in found):
                self.report(vault, found, 0)
            vault.set_state("linted", {"day": clock.day_of(clock.now_ms(), self._zone)})

    def introduce(self, subject: str, writer: Writer) -> list[str]:
        """What a model writes in a wiki; gives its pages. Called without the worker's lock."""
        vault, _ = self._of(subject)
        return model_prose.write_introductions(vault, writer, self._stamp()) if vault is not None else []

    # --- parts -------------------------------------------------------------------------------------------

    def log_project(self, project: Project) -> int:
        """Bring a project's daily logs up to date; gives how many entries were written."""
        vault = vault_of(self._home, project)
        most = self._settings.distil_max_turns
        return log_state.keep_project(self._store, vault, project.id, self._zone, most)

    def compiled(self, vault: Vault, project_id: str, **wish: bool | str) -> Compiled:
        """Compile a vault now, by rules; with `prose` a model, if there is one, is asked later."""
        models = bool(wish.get("prose")) and self._settings.model_provider != OFF
        done = compile_vault(
            vault,
            self._store,
            project_id,
            self._stamp(),
            Limits(self._settings.knowledge_max_logs, self._settings.knowledge_max_seconds),
            everything=bool(wish.get("everything")),
            only=str(wish.get("only") or ""),
            dry=bool(wish.get("dry")),
            prose=models,
        )
        if not wish.get("dry"):
            vault.set_state("compiled", {"at": clock.now_ms()})
            if models and model_prose.is_waiting(vault):
                with self._store.transaction():
                    self._store.jobs.ask(PROSE, project_id or SHARED, clock.now_ms())
        return done

    def introduced(self, vault: Vault, writer: Writer) -> tuple[list[str], str]:
        """Have a model write now, for a while; gives its pages, and what went wrong, which is tried again."""
        deadline = time.monotonic() + self._settings.knowledge_max_seconds
        try:
            return model_prose.write_introductions(
                vault, writer, self._stamp(), lambda: time.monotonic() > deadline
            ), ""
        except Exception as error:  # whatever a provider raises: the wiki stays what the rules made
            trouble = f"the model did not write: {error}"
            with vault.held():
                record_skip(vault, "compile", trouble)
            return [], f"{trouble}; the worker asks it again"

    def exported(self, vault: Vault, project: Project, folder: str = "") -> Exported | None:
        """Copy the vault into this folder of its repository, or where the setting says; None if nowhere."""
        into = folder or folder_for(project, self._settings.knowledge_export)
        if not into:
            return None
        with vault.held():
            done = export_vault(vault, Path(project.root), into)
        for page in done.left:
            log.warning("%s in %s is not ours, or was changed: it is left as it is", page, done.folder)
        return done

    def report(self, vault: Vault, found: list[Issue], fixed: int) -> str:
        """Write what a check found, on a page and in the log; gives the page. The caller holds the vault."""
        stamp = self._stamp()
        take_skips(vault)
        page = f"reports/lint-{stamp[:10]}.md"
        changes = Changes(vault)
        changes.put(page, lint_checks.lint_report(found, stamp))
        errors = sum(issue.severity == "error" for issue in found)
        said = f"{errors} errors of {len(found)} issues; {fixed} pages repaired"
        put_log(changes, stamp, "lint", [], [], said)
        changes.write()
        return page

    def mended(self, vault: Vault) -> int:
        """Mend what needs no thought; gives how many pages. The caller holds the vault."""
        take_back(vault)
        changes = Changes(vault)
        fixed = lint_checks.plan_fixes(vault, changes)
        changes.write()
        return fixed

    def _ask_for_compilation(self, subject: str, vault: Vault) -> None:
        """When something has changed AND the interval has passed, whatever the hour is."""
        project_id = "" if subject == SHARED else subject
        if not any(
            each.how != "damaged" for each in stale_logs(vault, now=load_standing(self._store, project_id))
        ):
            return
        now, last = clock.now_ms(), vault.state("compiled", _tells_time).get("at", 0)
        if last > now:  # the clock was ahead then, and says nothing of how long ago that was
            last = 0
        with self._store.transaction():
            self._store.jobs.ask(COMPILE, subject, now, max(last + self._interval_ms(), 1))

    def _interval_ms(self) -> int:
        try:
            minutes = float(os.environ.get(_INTERVAL, ""))
        except ValueError:
            minutes = self._settings.knowledge_interval_minutes
        return int(minutes * _MINUTE_MS)

    def _of(self, subject: str) -> tuple[Vault | None, str]:
        """The vault that a job is about, if there is one, and its project's id."""
        project = self._store.projects.get(subject) if subject != SHARED else None
        vault = shared_vault(self._home) if project is None else vault_of(self._home, project)
        there = (project is not None or subject == SHARED) and vault.root.is_dir()
        return (vault if there else None), "" if subject == SHARED else subject

    def _stamp(self) -> str:
        return clock.stamp(clock.now_ms(), self._zone)


def _tells_time(state: dict[str, Any]) -> bool:
    return type(state.get("at", 0)) is int
