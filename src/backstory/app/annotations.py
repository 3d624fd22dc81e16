"""What people say themselves: notes to remember, and judgements about memories."""

from collections.abc import Sequence
from pathlib import Path

from backstory import clock, user_notes
from backstory.app.context import Context
from backstory.capture.note_payload import USER
from backstory.capture.privacy import Privacy
from backstory.capture.worker_spawn import wake_worker
from backstory.errors import SourceMissing, UsageError
from backstory.model import Act, Event, Kind, Memory, MemoryKind, MemoryStatus, Speaker
from backstory.recall import prepare, ready_answers
from backstory.recall.handles import full_id
from backstory.store.job_queue import DAY
from backstory.store.records import Arrival

# The kinds of memories that a person is asked to look through.
REVIEWED = (
    MemoryKind.DECISION,
    MemoryKind.PREFERENCE,
    MemoryKind.LESSON,
    MemoryKind.ATTEMPT,
    MemoryKind.FACT,
)


class Annotations(Context):
    """The use cases of a person's say."""

    def remember(self, text: str, folder: Path, kind: str = "", said_by: Speaker = Speaker.USER) -> Memory:
        """Keep something that a person says, for the project of a folder; at once, however busy it is here.

        It is of the kind that its words have, or of the one that is asked for. What an agent keeps by itself
        is told as the agent's word.
        """
        project = self.project_at(folder)
        privacy = Privacy(self.settings)
        kept = user_notes.save_note(
            self.home, self.store, privacy, project, folder, text, kind, clock.now_ms(), said_by
        )
        if not self._attended:
            wake_worker(self.home)
        return kept

    def judge(self, handle: str, act: Act, text: str = "") -> Memory:
        """Do to a memory what a person wants: an event, which a rebuild does again. Gives it as it then is.

        `text` is the new wording of an edit, or the handle of the memory that supersedes it.
        """
        from backstory.supersession import write_supersessions  # with all that reads decisions

        self.catch_up()
        memory = self._kept_memory(handle)
        if act is Act.SUPERSEDE:
            newer = self._kept_memory(text)
            if newer.id == memory.id or newer.project_id != memory.project_id:
                raise UsageError("a memory is superseded by another one of the same project: name that one")
            text = newer.id
        elif act is not Act.EDIT:
            text = ""
        elif not text.strip() or len(text) > user_notes.LONGEST:
            raise UsageError(f"the new wording must have 1 to {user_notes.LONGEST} characters")
        now = clock.now_ms()
        project = self.store.projects.get(memory.project_id)
        assert project is not None
        # never searched or distilled: what it says is found as the memory itself
        event = Event(
            USER, f"user-{project.id}", Kind.JUDGED, now, Privacy(self.settings).text(text.strip()),
            target=memory.id, reason=act, native_id=f"{act}-{memory.id}-{now}", recalled=True,
        )  # fmt: skip
        key = self.store.events.key(event)
        with self._alone():
            with self.store.transaction():
                added = self.store.events.add([Arrival(event, project, key)])[0]
                self.store.memories.judge(memory.id, act, event.text, added.event_id)
                if memory.kind in (MemoryKind.DECISION, MemoryKind.FACT):
                    write_supersessions(
                        self.store, project.id
                    )  # what a person confirmed may replace the user's word
                self.store.jobs.ask(DAY, project.id, now)  # what the wiki tells of it has changed
            prepare.project_file(self.home, self.store, project.id)
            ready_answers.write_answers(self.home, self.store, project.id)
        return self._kept_memory(memory.id)

    def _kept_memory(self, handle: str) -> Memory:
        full = full_id(self.store, handle)
        if not full.startswith("m") or (memory := self.store.memories.kept(full)) is None:
            raise SourceMissing(f"{handle!r} is no memory; `backstory review` lists memories with handles")
        return memory

    def memories(
        self,
        kinds: Sequence[MemoryKind],
        statuses: Sequence[MemoryStatus],
        project_id: str | None = None,
        before: tuple[int, str] | None = None,
        limit: int = 50,
        pinned: bool = False,
    ) -> list[Memory]:
        """Memories of these kinds in these states, newest first; for a person who looks through them."""
        self.catch_up()
        return self.store.memories.listed(kinds, statuses, project_id, before, limit, pinned)

    def to_review(
        self,
        status: MemoryStatus = MemoryStatus.CANDIDATE,
        project_id: str | None = None,
        before: tuple[int, str] | None = None,
        limit: int = 50,
    ) -> list[Memory]:
        """What a person is asked to look through, newest first: what several sessions showed stands once."""
        self.catch_up()
        once = status is MemoryStatus.CANDIDATE  # what somebody judged is listed as it was judged
        return self.store.memories.listed(REVIEWED, [status], project_id, before, limit, once=once)
