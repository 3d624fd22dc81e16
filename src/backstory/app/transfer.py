"""What comes in from elsewhere, and what goes out: histories, documents, exports."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from backstory import clock
from backstory.app.context import Context
from backstory.capture.privacy import Privacy
from backstory.errors import SourceMissing
from backstory.model import Memory, Project, Session
from backstory.store.job_queue import EMBED, ROUND
from backstory.upkeep import export_file

if TYPE_CHECKING:
    from backstory.capture.importer import ImportLine, ImportOptions, ImportTally

# So long an import distils what it brought before it leaves the rest to the worker.
_SETTLE_SECONDS = 5.0
_FOREVER = 2**62


class Transfer(Context):
    """The use cases of import and export."""

    def import_history(
        self,
        names: Sequence[str],
        wish: "ImportOptions",
        path: Path | None = None,
        dry: bool = False,
        said: "Callable[[ImportLine], None]" = lambda line: None,
        progress: Callable[[int, int], None] = lambda done, of: None,
    ) -> "ImportTally":
        """Bring in what agents have kept of their sessions: of those named, or of all that have something."""
        from backstory.capture import import_process
        from backstory.capture.importer import Importer, trails_of  # with every agent's history: 20 ms

        found = trails_of(names, path)
        if dry:
            looks = Importer(self._readable_store(), Privacy(self.settings), None, wish, dry)
            return looks.bring(found, said, progress)
        self.catch_up()
        with self._alone():
            tally = import_process.import_in_processes(self.home, names, path, wish, said, progress)
        self._settle()
        return tally

    def import_documents(
        self,
        folder: Path,
        project: Project | None,
        user: str,
        dry: bool = False,
        said: "Callable[[ImportLine], None]" = lambda line: None,
        progress: Callable[[int, int], None] = lambda done, of: None,
        again: bool = False,
    ) -> "ImportTally":
        """Make a folder's documentation searchable, in its own project or in another one."""
        from backstory.capture.project_docs import Documents

        privacy = Privacy(self.settings)
        if dry:
            store = self._readable_store()
            into = project or (self.project_at(folder) if store else Project("", "", "", "", 0))
            return Documents(store, privacy, folder, into, user, again).bring(dry, said, progress)
        if not folder.exists():
            raise SourceMissing(f"{folder} does not exist: name a folder with documents, or a document")
        self.catch_up()
        with self._alone():
            into = project or self.project_at(folder if folder.is_dir() else folder.parent)
            tally = Documents(self.store, privacy, folder, into, user, again).bring(dry, said, progress)
        self._settle()
        return tally

    def _settle(self) -> None:
        """Have what was just imported distilled and made searchable, for a while; a worker does the rest."""
        self._wait_for_worker(lambda: self._left_to_do((*ROUND, EMBED)), _SETTLE_SECONDS)

    def export_lines(self, project_id: str | None, since: int, until: int) -> Iterator[str]:
        """Everything as JSON lines; of a project or a time only what belongs to its sessions."""
        self.catch_up()
        some = project_id is not None or since > 0 or until < _FOREVER
        return export_file.export_lines(
            self.store, self._sessions_in(project_id, since, until) if some else None
        )

    def export_markdown(self, project_id: str | None, since: int, until: int) -> Iterator[str]:
        """What was learned, to read."""
        self.catch_up()
        sessions = self._sessions_in(project_id, since, until)
        return export_file.markdown_lines(self.store, sessions, clock.zone(self.settings.time_zone))

    def learned(self, project_id: str | None, since: int, until: int) -> list[tuple[Session, list[Memory]]]:
        """Sessions with what was learned in each."""
        self.catch_up()
        sessions = self._sessions_in(project_id, since, until)
        return [(session, self.store.memories.of_session(session.id)) for session in sessions]

    def _sessions_in(self, project_id: str | None, since: int, until: int) -> list[Session]:
        every = self.store.events.sessions(project_id, limit=1_000_000, top_level=False)
        return [s for s in reversed(every) if s.last_at >= since and s.started_at < until]

    def import_export(self, path: Path, dry: bool = False) -> tuple[dict[str, int], bool]:
        """Take in an export of another home; gives what was new, and whether its ids go on being met."""
        if dry:
            return export_file.preview_export(self._readable_store(), path, Privacy(self.settings))
        with self._alone():
            try:
                new, same_key = export_file.load_export(self.store, path, Privacy(self.settings))
            finally:  # what a torn one gave is found, too
                with self.store.transaction():
                    self.store.memories.index_missing()
            self._ask_for_briefs()
        self._have_done()
        return new, same_key
