"""One home, opened: its store, its projects, its settings, and how work in it is done alone."""

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from backstory import clock, settings
from backstory.atomic import lock, write_own, write_state
from backstory.capture.confirmed_folders import confirmed_projects
from backstory.capture.hook_bundle import write_hook_settings
from backstory.capture.privacy import Privacy
from backstory.capture.project_lookup import ProjectLookup
from backstory.capture.spool_state import has_waiting_files
from backstory.capture.worker_spawn import call_worker, detach_worker, wake_worker
from backstory.embed.embedder import missing_model
from backstory.errors import Failed, SourceMissing, StoreUnusable, UsageError
from backstory.hook import spool
from backstory.hook.project_identity import Place, claimed_project, joined_in, project_id, resolve_place
from backstory.llm.governor import resume_calls
from backstory.llm.model_provider import OFF, missing_here
from backstory.model import Project
from backstory.paths import Home
from backstory.recall import notes
from backstory.settings import Settings
from backstory.store import Store, open_store
from backstory.store.disk_errors import find_obstacle
from backstory.store.job_queue import ASKING, BRIEF, DISTIL, REBUILD, REINDEX, ROUND, SUPERSEDE

_CATCH_UP_SECONDS = 5.0
_WEEK_MS = 7 * 86_400_000
_PATIENCE_SECONDS = 55  # as long as a worker heeds a wish
_POLL_SECONDS = 0.02
# So long a worker that was just started loads, before patience with it begins.
_START_SECONDS = 0.7
# So often what hooks leave in the meantime is taken in before a command is alone.
_TIMES = 5


class Context:
    """What every use case has: an opened home. Close it, or use it in a `with`."""

    def __init__(
        self, home: Home | None = None, attended: bool = False, patience: float = _CATCH_UP_SECONDS
    ) -> None:
        """`attended`: the process that asks sees to the spool itself, so nobody has to wait for it.

        `patience` is how many seconds a question waits at most for what still lies in the spool, and for
        somebody who writes.
        """
        self.home = home or Home.default()
        self._attended = attended
        self._patience = patience
        self.settings, self.problems = settings.load_settings(self.home)
        self._store: Store | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened."""
        if self._store is not None:
            self._store.close()
            self._store = None

    @property
    def store(self) -> Store:
        """The store, opened when it is first needed."""
        if self._store is None:
            self._store = open_store(self.home, self._patience)
        return self._store

    @property
    def only_reads(self) -> str:
        """Why the store that was opened cannot be written; "" if it can, or none was opened."""
        return self._store.only_reads if self._store else ""

    def catch_up(self, notes: bool = True, seconds: float | None = None) -> bool:
        """Have a worker take in what lies in the spool; False if some is left after so long.

        It is never done here: what one event does to a worker must not happen to a command. Who finds notes
        where they lie need not wait for them: without `notes`.
        """
        if self._attended and seconds is None:
            return True
        if not has_waiting_files(self.home, notes):
            return True
        if self.store.only_reads:
            return False

        def left() -> int:
            return has_waiting_files(self.home, notes) or self.store.passages.first_unindexed() is not None

        self._wait_for_worker(left, self._patience if seconds is None else seconds)
        return not has_waiting_files(self.home, notes)

    def _have_done(self, seconds: float = _PATIENCE_SECONDS, done: Callable[[], None] = lambda: None) -> bool:
        """Have a worker do what is due in a round; False if it has got nowhere for so long.

        Call it without the worker's lock. `done` is called whenever something was.
        """
        return self._wait_for_worker(self._left_to_do, seconds, done)

    def _left_to_do(self, kinds: Sequence[str] = ROUND) -> int:
        store = self.store
        return (
            store.jobs.due(kinds, clock.now_ms()) + store.passages.unindexed() + has_waiting_files(self.home)
        )

    def _wait_for_worker(
        self, left: Callable[[], int], seconds: float, done: Callable[[], None] | None = None
    ) -> bool:
        """Wait until nothing is left, so long in all or, with `done`, since the last time something was done.

        If no worker is at work, one is started.
        """
        worker, least, deadline = None, sys.maxsize, time.monotonic() + seconds
        try:
            while now := left():
                if done is not None and now < least:
                    least, deadline = now, time.monotonic() + seconds
                    done()
                if time.monotonic() > deadline:
                    return False
                if worker is None or worker.poll() is not None:
                    if worker is not None and worker.returncode:
                        return False  # it could not work, and has said why in its log and to doctor
                    if self._attended or self._worker_runs():  # it may only linger
                        self.home.due.touch(mode=0o600)
                    else:
                        deadline += 0 if worker else _START_SECONDS
                        worker = call_worker(self.home, 0)
                time.sleep(_POLL_SECONDS)
        finally:
            self.home.due.unlink(missing_ok=True)
            if worker is not None:
                detach_worker(worker)
        if done is not None:
            done()
        return True

    def _worker_runs(self) -> bool:
        try:
            with lock(self.home.worker_lock) as free:
                return not free
        except OSError:  # nobody can take it here
            return False

    def _spooled(self) -> int:
        return len(spool.spool_entries(str(self.home.spool)))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the worker's lock, which a worker without work gives up, or say what stands in the way."""
        if why := find_obstacle(self.home.database):
            raise StoreUnusable(str(why))
        with lock(self.home.worker_lock) as held:
            if held:
                yield
                return
        write_own(self.home.wanted, b"")
        try:
            with lock(self.home.worker_lock, wait=_PATIENCE_SECONDS) as held:
                if not held:
                    raise Failed(f"a worker has been busy for {_PATIENCE_SECONDS} s: try again in a moment")
                yield
        finally:
            self.home.wanted.unlink(missing_ok=True)

    @property
    def _stuck_seconds(self) -> float:
        """A worker that has got nowhere for so long has been ended by its limits, or waits in vain."""
        return max(_PATIENCE_SECONDS, 11 * self.settings.jobs_cpu_seconds)

    @contextlib.contextmanager
    def _alone_with_all(self) -> Iterator[None]:
        """Hold the worker's lock while nothing waits in the spool."""
        for _ in range(_TIMES):
            self.catch_up(seconds=_PATIENCE_SECONDS)
            with self._alone():
                if not has_waiting_files(self.home):
                    yield
                    return
        raise Failed("what lies in the spool could not be taken in first: `backstory doctor` says why")

    def project_at(self, folder: Path) -> Project:
        """The project of a folder, which need not exist any more."""
        shown = Privacy(self.settings).place
        places = ProjectLookup(
            self.store, self.confirmed(), self.settings.project_monorepo, shown, self.home.joined
        )
        return places.project(str(folder), clock.now_ms())

    def project_named(self, name: str) -> Project:
        """The one project with this id, name or identity."""
        found = [p for p in self.store.projects.all() if name in (p.id, p.name, p.identity)]
        if not found:
            raise SourceMissing(f"no project is called {name!r}; `backstory status --json` lists them")
        if len(found) > 1:
            choices = ", ".join(f"{p.id} ({p.identity})" for p in found)
            raise UsageError(f"several projects are called {name!r}; name one by its id: {choices}")
        return found[0]

    def project_called(self, name: str) -> Project:
        """The one project with this name, or a new one."""
        try:
            return self.project_named(name)
        except SourceMissing:
            return Project(project_id(name), name, name, "", clock.now_ms())

    def projects(self) -> list[Project]:
        """All projects, the latest seen first."""
        return self.store.projects.all() if self.home.database.exists() else []

    def confirmed(self) -> dict[str, str]:
        """The folders whose `.backstory.toml`, and the repositories whose remote, the user has agreed to."""
        return confirmed_projects(self.home)

    def claim_at(self, folder: Path) -> tuple[Path, str, bool] | None:
        """The nearest `.backstory.toml`: its folder, the project that it names, whether the user agreed."""
        confirmed = self.confirmed()
        here = Path(os.path.realpath(folder))
        for place in (here, *here.parents):
            if name := claimed_project(str(place)):
                return place, name, confirmed.get(str(place)) == name
        return None

    def confirm_project(self, folder: Path, agreed: bool = True) -> tuple[Path, str]:
        """Let the nearest `.backstory.toml` name its project, or no longer; gives its folder and the name."""
        by_file = self.claim_at(folder)
        claim = by_file or self._claim_by_remote(folder, agreed)
        if claim is None:
            raise SourceMissing(
                f'{folder} claims no project: write a .backstory.toml there that says project = "name"'
            )
        place, name, _ = claim
        others = {k: v for k, v in self.confirmed().items() if k != str(place)}
        # a repository whose sessions the project has already would be joined again: "" says no
        said = {str(place): name if agreed else ""} if agreed or not by_file else {}
        write_state(self.home.confirmed, others | said)
        self.publish_settings(self.settings)
        return place, name

    def _claim_by_remote(self, folder: Path, agreed: bool) -> tuple[Path, str, bool] | None:
        """The project that a repository claims to be and was not joined to, or that was confirmed for it."""
        confirmed = self.confirmed()
        place = self.place_at(folder)
        name = place.claim if agreed else confirmed.get(place.own, "")
        return (Path(place.own), name, not agreed) if name else None

    def place_at(self, folder: Path) -> Place:
        """A folder as the hook sees it: what git says of it, and its project."""
        chosen = self.settings.for_hook(self.confirmed())
        return resolve_place(
            str(folder), chosen["confirmed"], chosen["monorepo"], joined_in(str(self.home.root))
        )

    def _search_problems(self) -> list[str]:
        why = missing_model(self.settings)
        return [f"search goes {why}"] if why else []

    def _wake_worker(self) -> None:
        """Leave what is still to be done to a worker, if there is any."""
        if self.store.jobs.counts().get("waiting"):
            wake_worker(self.home)

    def _readable_store(self) -> Store | None:
        """The store, if there is one that can be opened; looking does not make one."""
        try:
            return self.store if self.home.database.exists() else None
        except StoreUnusable:
            return None

    def _ask_for_briefs(self) -> None:
        """The prepared briefs are to tell what the database has now; in the worker's lock."""
        shutil.rmtree(self.home.briefs, ignore_errors=True)
        now = clock.now_ms()
        with self.store.transaction():
            for project in self.store.projects.all():
                self.store.jobs.ask(SUPERSEDE, project.id, now)
                self.store.jobs.ask(BRIEF, project.id, now)
            for session in self.store.events.sessions(limit=1_000):
                self.store.jobs.ask(BRIEF, session.id, now)

    def _ask_for_rebuild(self) -> int:
        """Everything derived is to be made again, by a worker; in its lock. Gives the number of sessions."""
        ids = self.store.events.all_session_ids()
        now = clock.now_ms()
        with self.store.transaction():
            self.store.passages.clear()
            for sid in ids:
                self.store.jobs.ask(REBUILD, sid, now)
            self.store.jobs.ask(REINDEX, "memories", now)
        return len(ids)

    def setting_rows(self) -> list[settings.Row]:
        """All settings with their values, defaults and meaning."""
        return settings.setting_rows(self.settings)

    def change_setting(self, key: str, text: str | None) -> Any:
        """Set or unset a setting, and tell the hook: what it says from now on, and where it is asked."""
        value = settings.change_setting(self.home, key, text)
        self.settings, self.problems = settings.load_settings(self.home)
        self.publish_settings(self.settings)
        if key in notes.SWITCHES and (store := self._readable_store()) is not None:
            notes.flag_again(self.home, store)
        on = key.startswith("model.") and self.settings.model_provider != OFF
        if on and self._readable_store() is not None:
            self._ask_models_again(week=key == "model.provider")
        return value

    def missing_for_models(self) -> str:
        """What the environment of this process lacks to ask a model, or ""."""
        return missing_here(self.settings)

    def _ask_models_again(self, week: bool = False) -> None:
        """What waits for a model is due now, whatever went wrong; `week`: so are the week's sessions."""
        now = clock.now_ms()
        with self.store.transaction():
            resume_calls(self.store, now)
            for job in self.store.jobs.all():
                if job.kind in ASKING and job.state in ("waiting", "parked"):
                    self.store.jobs.retry(job, now)
            for session in self.store.events.sessions(limit=1_000) if week else ():
                if session.last_at > now - _WEEK_MS:  # distilling asks a model, if there is enough to ask
                    self.store.jobs.ask(DISTIL, session.id, now)
        self._wake_worker()

    def publish_settings(self, current: Settings) -> None:
        """Hand the hook the settings that it needs."""
        write_hook_settings(self.home.root, current.for_hook(self.confirmed()))
