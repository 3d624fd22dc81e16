"""Looking after what is kept: rebuilding, backups, repair, forgetting, cleaning."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backstory import clock
from backstory.app.context import Context
from backstory.capture.privacy import Privacy
from backstory.errors import Failed, SourceMissing
from backstory.model import Session
from backstory.recall.handles import full_id
from backstory.store.backup_copy import Contents
from backstory.store.job_queue import PROVE, REBUILD, REINDEX, TRANSCRIPT
from backstory.upkeep import backups, stale_sessions

if TYPE_CHECKING:
    from backstory.upkeep.erasure import ErasurePlan, ErasureRequest
    from backstory.upkeep.repair import Repaired
    from backstory.upkeep.scrub import Scrubbed


class Maintenance(Context):
    """The use cases of upkeep."""

    def rebuild(self, progress: Callable[[int, int], None] = lambda done, of: None) -> int:
        """Make everything derived again from the events; gives the number of sessions."""
        self.catch_up()
        with self._alone():
            sessions = self._ask_for_rebuild()
        self._rebuilt(sessions, progress)
        return sessions

    def _rebuilt(self, sessions: int, progress: Callable[[int, int], None]) -> None:
        """Wait for the worker that rebuilds; a session that ends it is parked, and the others go on."""

        def report() -> None:
            progress(sessions - self.store.jobs.due((REBUILD,), clock.now_ms()), sessions)

        if not self._have_done(self._stuck_seconds, report):
            raise Failed("it is not through: a worker goes on, and `backstory jobs` shows what is left")

    def reindex(self) -> None:
        """Build the text index again, of memories and events as they are."""
        self._ask_and_wait(REINDEX, "all")

    def prove(self) -> None:
        """Look again whether there are sessions of which nothing was captured."""
        self._ask_and_wait(PROVE, "all")

    def _ask_and_wait(self, kind: str, subject: str) -> None:
        with self.store.transaction():
            self.store.jobs.ask(kind, subject, clock.now_ms())
        self._have_done(self._stuck_seconds)

    def kept_backups(self) -> list[Contents]:
        """All backups with what they hold, newest first."""
        return backups.list_backups(self.home)

    def back_up(self) -> Contents:
        """Copy the database, while it is in use, into the backups."""
        if not self.home.database.exists():
            raise SourceMissing("there is nothing to back up yet: the first event makes the database")
        return backups.make_backup(self.home, self.store)

    def restore(self, name: str, really: bool) -> backups.Restored:
        """Go back to a backup, or only tell what that would replace."""
        backup = backups.find_backup(self.home, name)
        if not really:
            return backups.Restored(backup, backups.current_contents(self.home))
        with self._alone():
            self.close()
            restored = backups.restore_backup(self.home, backup, Privacy(self.settings))
            self._ask_for_briefs()
        self._have_done()
        return replace(restored, now=backups.current_contents(self.home))

    def repair(self) -> "Repaired":
        """Build a new database from what the damaged one still gives, and put it in its place."""
        from backstory.store.salvage import counted_again
        from backstory.upkeep.repair import repair_database

        if not self.home.database.exists():
            raise SourceMissing(f"there is no database at {self.home.database}: nothing to repair")
        with self._alone():
            self.close()
            repaired = repair_database(self.home, self.settings)
            with self.store.transaction():
                for sid in self.store.events.all_session_ids() if not repaired.key_lost else ():
                    self.store.jobs.ask(TRANSCRIPT, sid, clock.now_ms())
            self._ask_for_briefs()
            sessions = self._ask_for_rebuild()
        self._rebuilt(sessions, lambda done, of: None)
        rescued = counted_again(repaired.rescued, self.store.listings.row_counts(repaired.rescued))
        return replace(repaired, rescued=rescued, now=backups.current_contents(self.home) or repaired.now)

    def wanted(self, handles: Sequence[str], **rest: Any) -> "ErasureRequest":
        """What is meant by the beginnings of ids, and the rest as it is."""
        from backstory.upkeep.erasure import ErasureRequest  # with all that knows pages: 20 ms

        return ErasureRequest(tuple(full_id(self.store, handle) for handle in handles), **rest)

    def forget(
        self,
        wanted: "ErasureRequest",
        really: bool,
        check: "Callable[[ErasurePlan], None] | None" = None,
        by_agent: bool = False,
        with_team: bool = False,
    ) -> "ErasurePlan":
        """Forget something for good, or only tell everything that would be touched.

        `check` is given what is about to go, while nobody else can change it, and raises if it must not. That
        it was done `by_agent` is counted, and told for a week. `with_team`: what was shared is to be
        forgotten by the server, too, which `bury_with_team` tells it.
        """
        from backstory.upkeep import erasure

        if not really:
            self.catch_up()
            return erasure.plan_erasure(self.home, self.store, wanted, self.settings.knowledge_export)
        with self._alone_with_all():
            what = erasure.plan_erasure(self.home, self.store, wanted, self.settings.knowledge_export)
            if check is not None:
                check(what)
            if what:
                self.store.writable()  # else files would go while the rows stay
                what = erasure.carry_out(self.home, self.store, what, by_agent, with_team)
            erased = not self.store.row_erasure.traces_left() or self.store.row_erasure.erase_traces()
        self._have_done()
        if not erased:
            raise Failed(
                "it is forgotten, but another process is reading the database and keeps old pages alive: "
                "the next worker erases them"
            )
        return what

    def clean_up(self, max_age_hours: float, really: bool) -> list[Session]:
        """End sessions in which nothing has happened for so long, or only tell which."""
        self.catch_up()
        with self._alone():
            found = stale_sessions.find_stale_sessions(self.store, max_age_hours)
            if really and found:
                with self.store.transaction():
                    stale_sessions.end_stale_sessions(self.store, found)
        if really:
            self._have_done()
        return found

    def scrub(self, really: bool) -> "Scrubbed":
        """Take secrets out of what is stored already, or only tell where some are."""
        from backstory.upkeep.scrub import scrub_secrets

        self.catch_up()
        with self._alone():
            found = scrub_secrets(self.home, self.store, self.settings, really)
        if really:
            self._have_done()
        return found
