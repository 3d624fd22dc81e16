"""An import's own process: a history that takes too much ends that process, and the import goes on.

The command starts it, and hears of each history before it is read and of what became of it. If the process
is ended by its limits (job_limits.py), the command tells that the history at hand could not be imported, and
starts another process for the rest.
"""
# Both ends of the pipes are ours.
# ruff: noqa: S301

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from backstory import job_limits, settings
from backstory.agents.history_source import Trail
from backstory.atomic import make_private_dir
from backstory.capture.confirmed_folders import confirmed_projects
from backstory.capture.importer import Importer, ImportLine, ImportOptions, ImportTally, Tag, trails_of
from backstory.capture.privacy import Privacy
from backstory.capture.project_lookup import ProjectLookup
from backstory.errors import BackstoryError, Failed
from backstory.paths import Home
from backstory.store import open_store


def import_in_processes(
    home: Home,
    names: Sequence[str],
    path: Path | None,
    wish: ImportOptions,
    said: Callable[[ImportLine], None],
    progress: Callable[[int, int], None],
) -> ImportTally:
    """Import histories, in processes of their own; the caller holds the worker's lock."""
    tally = ImportTally()
    passed: list[tuple[str, Trail]] = []
    while True:
        begun, ended = len(passed), True
        for what, *told in _heard((home.root, names, path, wish, {trail.key for _, trail in passed})):
            if what == "at":
                passed.append((told[0], told[1]))
            elif what == "line":
                tally.add(told[0])
                said(told[0])
            elif what == "progress":
                progress(told[0], told[1])
            elif what == "error":
                raise told[0]
            else:
                tally.corrupt += told[0]
                tally.unknown += told[1]
                ended = False
        if not ended:
            return tally
        if begun == len(passed):
            raise Failed("the import ended before it had begun: `backstory doctor` looks for the reason")
        agent, trail = passed[-1]
        why = "it took too much processor time or crashed the import"
        line = ImportLine(
            Tag.SKIP, agent, trail.session, trail.path, subagent=trail.subagent, why=why, failed=True
        )
        tally.add(line)
        said(line)


def _heard(asked: object) -> Iterator[tuple[Any, ...]]:
    """What a process that is asked to import tells, until it ends; it does not outlive who listens."""
    command = [sys.executable, "-I", "-m", "backstory.capture.import_process"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            pickle.dump(asked, child.stdin)
            child.stdin.close()
            while True:
                yield pickle.load(child.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            pass
        finally:
            child.kill()


class _Page:
    """Nobody watches how long it takes: the person who imports does."""

    deadline = 0.0
    left = False


def main() -> int:
    """Do what is asked for on stdin, and tell of it on stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started us ends us
    asked = pickle.load(sys.stdin.buffer)
    home = Home(asked[0])
    job_limits.limit_process(_Page(), "", make_private_dir(home.logs) / "worker.log")
    job_limits.allow_processor_seconds(settings.load_settings(home)[0].jobs_cpu_seconds)
    with os.fdopen(os.dup(1), "wb") as out:
        serve_import(asked, out)
    return 0


def serve_import(
    asked: tuple[Path, Sequence[str], Path | None, ImportOptions, set[str]], out: IO[bytes]
) -> None:
    """Import what is asked for, and tell of it."""
    root, names, path, wish, passed = asked
    try:
        _import(Home(root), names, path, wish, passed, out)
    except BackstoryError as error:
        _tell(out, "error", error)


def _import(
    home: Home, names: Sequence[str], path: Path | None, wish: ImportOptions, passed: set[str], out: IO[bytes]
) -> None:
    loaded, _ = settings.load_settings(home)
    store, privacy = open_store(home), Privacy(loaded)
    places = ProjectLookup(
        store, confirmed_projects(home), loaded.project_monorepo, privacy.place, home.joined
    )
    work = Importer(store, privacy, places, wish)
    with job_limits.job_limit():
        found = trails_of(names, path)
    total, done = sum(trail.size for _, trails in found for trail in trails), 0
    for source, trails in found:
        for trail in trails:
            if trail.key not in passed:
                _tell(out, "at", source.agent, trail)
                with job_limits.job_limit():
                    for line in work.run(source, [trail]):
                        _tell(out, "line", line)
            done += trail.size
            _tell(out, "progress", done, total)
    store.close()
    _tell(out, "done", work.tally.corrupt, work.tally.unknown)


def _tell(out: IO[bytes], *told: object) -> None:
    pickle.dump(told, out)
    out.flush()


if __name__ == "__main__":
    sys.exit(main())
