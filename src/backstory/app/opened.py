"""One home, opened: its store, its projects, its settings, and how work in it is done alone."""

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from backstory import clock, settings
from backstory.atomic import lock, write_atomic, write_state
from backstory.capture.calling import wake_worker
from backstory.capture.confirmed import confirmed
from backstory.capture.hookfiles import write_hook_settings
from backstory.capture.places import Places
from backstory.capture.privacy import Privacy
from backstory.capture.waiting import waiting
from backstory.embed.provider import missing
from backstory.errors import Failed, SourceMissing, StoreBusy, StoreUnusable, UsageError
from backstory.hook import spool
from backstory.hook.identity import Place, claimed, joined_in, project_id, resolve
from backstory.model import Project
from backstory.paths import Home
from backstory.recall import notes
from backstory.settings import Settings
from backstory.store import Store, open_store
from backstory.store.obstacles import obstacle

if TYPE_CHECKING:
    from backstory.work import Work

_CATCH_UP_SECONDS = 5.0
_PATIENCE_SECONDS = 55  # as long as a worker heeds a wish


class Opened:
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
        self.settings, self.problems = settings.load(self.home)
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

    def catch_up(self, notes: bool = True) -> bool:
        """Take in what lies in the spool, or wait for the worker that does; False if some is left.

        Who finds notes where they lie need not wait for them: without `notes`.
        """
        if self._attended:
            return True
        deadline = time.monotonic() + self._patience
        # also what a hook left in the meantime: its worker found the lock held
        while waiting(self.home, notes):
            if self.store.only_reads:
                return False
            with lock(self.home.worker_lock) as held:
                if held:
                    with contextlib.suppress(StoreBusy):  # what is stored can be told all the same
                        self._work().take_in(deadline)
            if time.monotonic() > deadline:
                return not waiting(self.home, notes)
            if not held:
                time.sleep(0.05)
        return True

    def _work(self) -> "Work":
        from backstory.work import Work  # distilling is most of what there is to import (160 ms)

        return Work(self.home, self.settings, self.store)

    def _spooled(self) -> int:
        return len(spool.entries(str(self.home.spool)))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the worker's lock, which a worker without work gives up, or say what stands in the way."""
        if why := obstacle(self.home.database):
            raise StoreUnusable(str(why))
        with lock(self.home.worker_lock) as held:
            if held:
                yield
                return
        write_atomic(self.home.wanted, b"")
        try:
            with lock(self.home.worker_lock, wait=_PATIENCE_SECONDS) as held:
                if not held:
                    raise Failed(f"a worker has been busy for {_PATIENCE_SECONDS} s: try again in a moment")
                yield
        finally:
            self.home.wanted.unlink(missing_ok=True)

    def project_at(self, folder: Path) -> Project:
        """The project of a folder, which need not exist any more."""
        shown = Privacy(self.settings).place
        places = Places(self.store, self.confirmed(), self.settings.project_monorepo, shown, self.home.joined)
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
        return confirmed(self.home)

    def claim_at(self, folder: Path) -> tuple[Path, str, bool] | None:
        """The nearest `.backstory.toml`: its folder, the project that it names, whether the user agreed."""
        confirmed = self.confirmed()
        here = Path(os.path.realpath(folder))
        for place in (here, *here.parents):
            if name := claimed(str(place)):
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
        return resolve(str(folder), chosen["confirmed"], chosen["monorepo"], joined_in(str(self.home.root)))

    def _search_problems(self) -> list[str]:
        why = missing(self.settings)
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

    def _prepare_again(self) -> None:
        """The prepared briefs tell what the database has now; in the worker's lock."""
        shutil.rmtree(self.home.briefs, ignore_errors=True)
        now = clock.now_ms()
        with self.store.transaction():
            for project in self.store.projects.all():
                self.store.jobs.ask("brief", project.id, now)
            for session in self.store.events.sessions(limit=1_000):
                self.store.jobs.ask("brief", session.id, now)
        self._work().round()

    def setting_rows(self) -> list[settings.Row]:
        """All settings with their values, defaults and meaning."""
        return settings.rows(self.settings)

    def change_setting(self, key: str, text: str | None) -> Any:
        """Set or unset a setting, and tell the hook: what it says from now on, and where it is asked."""
        value = settings.change(self.home, key, text)
        self.settings, self.problems = settings.load(self.home)
        self.publish_settings(self.settings)
        if key in notes.SWITCHES and (store := self._readable_store()) is not None:
            notes.flag_again(self.home, store)
        return value

    def publish_settings(self, current: Settings) -> None:
        """Hand the hook the settings that it needs."""
        write_hook_settings(self.home.root, current.for_hook(self.confirmed()))
