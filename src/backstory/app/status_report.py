"""How the memory is doing: its numbers, its jobs, and what models were asked."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backstory import clock
from backstory.app.context import Context
from backstory.capture import quarantine
from backstory.embed.embedder import configured_model
from backstory.errors import SourceMissing
from backstory.hook import spool
from backstory.llm.governor import Spending, spending_report
from backstory.llm.model_provider import OFF
from backstory.llm.prose_writer import ModelWriter
from backstory.recall import prepare
from backstory.store.records import Call, Job, SpentOn
from backstory.upkeep import disk_usage

# What is counted on the way in: payloads that hooks left, and what became of them (no receipts of briefs).
_CAPTURED = ("spooled", "stored", "duplicate", "quarantined", "failed", "late")


@dataclass(frozen=True, slots=True)
class Status:
    """How the memory is doing, in numbers."""

    home: Path
    events: int
    sessions: int
    memories: int
    projects: int
    spooled: int
    quarantined: int
    duplicates: int
    failed_hooks: int
    captured: dict[str, int]
    unindexed: int
    jobs: dict[str, int]
    briefs: int
    brief_tokens: int
    schema: int
    database_bytes: int
    sizes: dict[str, int]
    freeable: dict[str, int]
    last_event_at: int
    worker_running: bool
    spending: Spending
    by_status: dict[str, int]
    by_source: dict[str, int]
    worst_attempts: int
    vectors: tuple[int, int]
    problems: tuple[str, ...]


class StatusReports(Context):
    """The use cases of looking at the memory itself."""

    def status(self) -> Status:
        """How the memory is doing; looks, and changes nothing."""
        if not self.home.database.exists():
            return self._nothing_yet()
        store = self.store
        counts = store.listings.table_counts()
        briefs, tokens = store.briefs.totals()
        latest = store.events.latest(None, 0, 1)
        by_status, by_source = store.listings.memory_counts()
        return Status(
            home=self.home.root,
            **counts,
            spooled=self._spooled(),
            quarantined=len(quarantine.quarantined_files(self.home)),
            duplicates=store.counters.total("duplicate"),
            failed_hooks=store.counters.total("failed"),
            captured={name: store.counters.total(name, spool.RECEIPT) for name in _CAPTURED},
            unindexed=store.passages.unindexed(),
            jobs=store.jobs.counts(),
            briefs=briefs,
            brief_tokens=tokens,
            schema=store.schema_version(),
            database_bytes=self.home.database.stat().st_size,
            sizes=disk_usage.bytes_taken(self.home, store),
            freeable=disk_usage.bytes_freeable(store),
            last_event_at=latest[0].event.at if latest else 0,
            worker_running=self._worker_runs(),
            by_status=by_status,
            by_source=by_source,
            worst_attempts=store.jobs.worst_attempts(),
            vectors=store.vectors.counts(configured_model(self.settings)),
            spending=spending_report(self.settings, store),
            problems=(
                *self.problems,
                *filter(None, [store.only_reads]),
                *(
                    f"{path} cannot be read: `backstory doctor --fix` repairs that"
                    for path in self.closed_parts()
                ),
                *prepare.notices(store),
                *self._search_problems(),
                *(
                    f"{feed.name} is not shared since {clock.stamp(feed.trouble_since)}: {feed.trouble}"
                    for feed in store.feeds.all()
                    if feed.trouble
                ),
            ),
        )

    def closed_parts(self) -> list[Path]:
        """Files and folders of the home that its owner may not read any more."""
        return [path for path in sorted(self.home.root.iterdir()) if not os.access(path, os.R_OK)]

    def _nothing_yet(self) -> Status:
        """The status of a home in which nothing was stored; it is not made by asking."""
        names = (
            "events sessions memories projects duplicates failed_hooks unindexed briefs brief_tokens schema "
            "database_bytes last_event_at"
        )
        return Status(
            home=self.home.root,
            **dict.fromkeys(names.split(), 0),
            spooled=self._spooled(),
            quarantined=len(quarantine.quarantined_files(self.home)),
            captured=dict.fromkeys(_CAPTURED, 0),
            jobs={},
            sizes=disk_usage.bytes_taken(self.home, None),
            freeable={},
            worker_running=False,
            by_status={},
            by_source={},
            worst_attempts=0,
            vectors=(0, 0),
            spending=spending_report(self.settings, None),
            problems=tuple(self.problems),
        )

    def jobs(self, states: Sequence[str] = ()) -> list[Job]:
        """Work to be done, oldest first; in these states, or in all but done."""
        found = self.store.jobs.all() if self.home.database.exists() else []
        return [job for job in found if (job.state in states if states else job.state != "done")]

    def jobs_called(self, names: Sequence[str]) -> list[Job]:
        """The jobs with these handles, `kind:subject`; a kind, or the beginning of a subject, is enough."""
        waiting = self.jobs()
        found: dict[tuple[str, str], Job] = {}
        for name in names:
            matching = [j for j in waiting if name == j.kind or f"{j.kind}:{j.subject}".startswith(name)]
            matching = matching or [j for j in waiting if len(name) >= 4 and j.subject.startswith(name)]
            if not matching:
                raise SourceMissing(f"there is no job {name!r}; `backstory jobs` lists them")
            found.update({(job.kind, job.subject): job for job in matching})
        return list(found.values())

    def retry_jobs(self, jobs: Sequence[Job], here: bool = False) -> list[Job]:
        """Have jobs tried again by a worker, and wait for it if `here`; gives those still there."""
        with self.store.transaction():
            changed = [job for job in jobs if self.store.jobs.retry(job, clock.now_ms())]
        if here:
            self._have_done(self._stuck_seconds)
        else:
            self._wake_worker()
        return changed

    def drop_jobs(self, jobs: Sequence[Job]) -> list[Job]:
        """Take jobs out of the queue; what they were about is asked for again when there is something new."""
        with self.store.transaction():
            return [job for job in jobs if self.store.jobs.drop(job)]

    def writer(self) -> ModelWriter | None:
        """Whoever writes better than the rules do; None without a configured model."""
        if self.settings.model_provider == OFF:
            return None
        return ModelWriter(self.home, self.settings, self.store)

    def spending(self) -> Spending:
        """Who is asked, and what that has taken."""
        return spending_report(self.settings, self._readable_store())

    def spent_on(self, since: int) -> list[SpentOn]:
        """What calls since then took, by purpose and model."""
        store = self._readable_store()
        return store.ledger.spent_on(since) if store else []

    def model_calls(self, limit: int, since: int = 0) -> list[Call]:
        """The latest calls of models, newest first."""
        store = self._readable_store()
        return store.ledger.latest(limit, since) if store else []

    def resume_models(self) -> None:
        """Let models be asked again after the breaker has stopped all calls."""
        self._ask_models_again()

    def parked(self) -> list[Job]:
        """Jobs that failed too often and wait for a person."""
        return self.store.jobs.all("parked")
