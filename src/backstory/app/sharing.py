"""Sharing with a team and with one's own other machines: what leaves, what came, who is heard."""

import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from backstory import clock
from backstory.app.context import Context
from backstory.atomic import write_state
from backstory.capture.project_claims import publish_joined
from backstory.errors import Failed, SourceMissing, UsageError
from backstory.model import Memory, Project
from backstory.recall import prepare, ready_answers
from backstory.recall.handles import full_id
from backstory.store.feeds import REFUSED, Feed, SentRow
from backstory.store.job_queue import BRIEF

if TYPE_CHECKING:
    from backstory.share.outgoing_rows import Choice
    from backstory.team_membership import Membership


@dataclass(frozen=True, slots=True)
class Shared:
    """One feed as a person sees it: `here` of `there` rows and graves are in this home."""

    feed: Feed
    project: str
    here: int
    sent: int
    refused: tuple[SentRow, ...]


@dataclass(frozen=True, slots=True)
class TeamReport:
    """What this home shares and is told. `to_bury`: rows that the server is still to forget."""

    membership: "Membership | None"
    feeds: tuple[Shared, ...]
    authors: tuple[tuple[str, str, int], ...]
    muted: tuple[str, ...]
    to_bury: int


@dataclass(frozen=True, slots=True)
class Burial:
    """What became of a forgetting on the server: who has followed, and who has not yet."""

    asked: int
    waits: int = 0
    confirmed: tuple[str, ...] = ()
    behind: tuple[tuple[str, int], ...] = ()
    refused: tuple[str, ...] = ()
    trouble: str = ""


class Sharing(Context):
    """The use cases of sharing."""

    def membership(self) -> "Membership | None":
        """The team that this home belongs to."""
        from backstory.team_membership import read_membership

        return read_membership(self.home)

    def join_team(self, link: str) -> "Membership":
        """Join a team by an invitation's link; nothing is shared yet."""
        from backstory.share.team_client import TeamClient
        from backstory.team_membership import Membership, write_membership

        address, invite = _link(link)
        before = self.membership()
        if before is not None and before.address != address:
            raise UsageError(
                f"this home belongs to the team at {before.address}: `backstory team leave` first"
            )
        answer, server = TeamClient(address).join(invite, platform.node() or "a machine")
        try:
            joined = Membership.from_answer(address, server, answer)
        except ValueError as error:
            raise Failed(f"{address} answered in a way that this Backstory does not know: {error}") from None
        self.home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_membership(self.home, joined)
        with self.store.transaction():
            self.store.feeds.hasten()
        return joined

    def choose_shared(
        self, project: Project, level: str, mine: bool, handles: Sequence[str] = ()
    ) -> "Choice":
        """What would leave a project at a level, as it would cross the wire; changes nothing."""
        from backstory.share import outgoing_rows

        if why := outgoing_rows.why_not(project):
            raise UsageError(why)
        self.catch_up()
        membership = self.membership()
        wire = outgoing_rows.wire_ids(membership.share_key) if membership else lambda local_id: local_id
        also = frozenset(self._own_memory(handle).id for handle in handles)
        return outgoing_rows.rows_to_share(self.store, self.settings, project, level, mine, wire, also)

    def share_project(self, project: Project, level: str, mine: bool, handles: Sequence[str] = ()) -> Feed:
        """Let what may leave go, now and from now on; gives how the feed then is."""
        from backstory.share import outgoing_rows
        from backstory.share.share_pass import share_lock, sync_feed

        membership = self._joined()
        if why := outgoing_rows.why_not(project):
            raise UsageError(why)
        name = outgoing_rows.feed_name(project, mine)
        by_hand = [self._own_memory(handle).id for handle in handles]
        self._make_known(project)
        with self.store.transaction():
            self.store.feeds.set_level(name, project.id, level)
            self.store.feeds.share_by_hand(by_hand)
        feed = self.store.feeds.get(name)
        assert feed is not None
        with share_lock(self.home):
            sync_feed(self.store, self.settings, membership, feed, raises=True)
        self._wake_worker()
        return self.store.feeds.get(name) or feed

    def sync_now(self) -> None:
        """Bring everything that is shared up to date, whatever it waits for; the first trouble is raised."""
        from backstory.share.share_pass import forget_what_was_buried, share_lock, sync_feed

        membership = self._joined()
        with share_lock(self.home):
            for feed in self.store.feeds.all():
                sync_feed(self.store, self.settings, membership, feed, raises=True)
            forget_what_was_buried(self.home, self.store)
        self._have_done()

    def team_report(self) -> TeamReport:
        """What is shared, what came, and whether both sides have the same; asks nobody."""
        membership = self.membership()
        store = self._readable_store()
        if store is None:
            return TeamReport(membership, (), (), (), 0)
        names = {project.id: project.name for project in store.projects.all()}
        shared = []
        for feed in store.feeds.all():
            sent = store.feeds.sent(feed.name).values()
            refused = tuple(row for row in sent if row.state == REFUSED)
            here, mine = store.feeds.proof(feed.name).count, sum(row.state == "sent" for row in sent)
            shared.append(Shared(feed, names.get(feed.project_id, feed.name), here, mine, refused))
        return TeamReport(
            membership,
            tuple(shared),
            tuple(store.others.authors()),
            tuple(store.others.muted()),
            store.feeds.waits_to_be_buried(),
        )

    def leave_team(self, take_mine: bool) -> int:
        """Belong to no team any more; with `take_mine` what was shared from here is buried there first.

        What others shared goes from this home either way. Gives how many rows the server buried.
        """
        from backstory.share.outgoing_rows import OFF
        from backstory.share.share_pass import share_lock, sync_feed
        from backstory.team_membership import leave_team

        membership = self._joined()
        taken = 0
        with share_lock(self.home):
            if take_mine:
                with self.store.transaction():
                    taken = self.store.feeds.bury_all_sent()
                for feed in self.store.feeds.all():
                    with self.store.transaction():
                        self.store.feeds.set_level(feed.name, feed.project_id, OFF)
                    sync_feed(self.store, self.settings, membership, feed, raises=True)
            with self.store.transaction():
                for feed in self.store.feeds.all():
                    gone = self.store.feeds.memories_of(feed.name)
                    self.store.feeds.remove(feed.name)
                    self.store.others.remove(gone)
                    self.store.jobs.ask(BRIEF, feed.project_id, clock.now_ms())
            leave_team(self.home)
        self._have_done()
        return taken

    def require_team(self) -> None:
        """Raise `UsageError` if this home belongs to no team."""
        self._joined()

    def bury_with_team(self) -> Burial:
        """Tell the server what was just forgotten, and who has followed; what fails is tried again later."""
        from backstory.share.share_pass import share_lock, sync_feed
        from backstory.share.team_client import TeamTrouble

        membership = self._joined()
        asked = self.store.feeds.waits_to_be_buried()
        if not asked:
            return Burial(0)
        try:
            with share_lock(self.home):
                for feed in self.store.feeds.all():
                    sync_feed(self.store, self.settings, membership, feed, raises=True)
            return replace(self.who_followed(), asked=asked)
        except TeamTrouble as trouble:
            return Burial(asked, self.store.feeds.waits_to_be_buried(), trouble=str(trouble))

    def who_followed(self) -> Burial:
        """Which other devices have read all that this one has, burials too, as far as it may know."""
        from backstory.share.feed_sync import followers
        from backstory.share.team_client import TeamClient

        membership = self._joined()
        client = TeamClient(membership.address, membership.token, membership.server)
        confirmed, behind = followers(self.store, client.devices(), membership.device.id)
        waits = self.store.feeds.waits_to_be_buried()
        return Burial(0, waits, confirmed, behind, self.store.feeds.not_buried())

    def mute(self, name: str) -> None:
        """Tell nothing of somebody any more, in any brief or search."""
        known = {author for author, _, _ in self.store.others.authors()}
        if name not in known:
            others = f": known are {', '.join(sorted(known))}" if known else ", and nobody shares with you"
            raise SourceMissing(f"nobody called {name!r} shares anything with this home{others}")
        with self.store.transaction():
            self.store.others.mute(name)
        self._tell_anew(self._with_others())

    def unmute(self, name: str) -> None:
        """Tell what somebody shares again."""
        with self.store.transaction():
            found = self.store.others.unmute(name)
        if not found:
            raise SourceMissing(f"nobody called {name!r} is muted; `backstory team` lists who is")
        self._tell_anew(self._with_others())

    def shared_files(self, folder: Path, level: str) -> dict[Path, str]:
        """The files that `share git` would write for the project of a folder."""
        from backstory.share import outgoing_rows, shared_files

        self.catch_up()
        project, place = self.project_at(folder), self.place_at(folder)
        if why := outgoing_rows.why_not(project):
            raise UsageError(why)
        author = shared_files.author_name(Path(place.root))
        if not author:
            raise UsageError("git knows no name of yours here: `git config user.name NAME` sets it")
        return shared_files.files_to_write(
            self.store, self.settings, project, level, Path(place.root), author
        )

    def confirm_shared_files(self, folder: Path, agreed: bool = True) -> Path | None:
        """Let the files under .backstory/shared of a clone be read, or no longer; None if there are none."""
        from backstory.share.shared_files import FOLDER, NO_MORE, read_confirmed

        place = Path(self.place_at(folder).root) / FOLDER
        known = self.confirmed()
        if not place.is_dir() and str(place) not in known:
            return None
        project = self.project_at(folder)
        said = {str(place): project.identity if agreed else f"{NO_MORE}{project.identity}"}
        write_state(self.home.confirmed, known | said)
        self._make_known(project)
        read_confirmed(self.home, self.settings, self.store)
        self._tell_anew([project])
        return place

    def _tell_anew(self, projects: Sequence[Project]) -> None:
        """Briefs are to say at once what may be said now."""
        with self._alone():
            for project in projects:
                prepare.project_file(self.home, self.store, project.id)
                ready_answers.write_answers(self.home, self.store, project.id)

    def _with_others(self) -> list[Project]:
        return [project for project in self.store.projects.all() if self.store.others.has(project.id)]

    def _make_known(self, project: Project) -> None:
        """Know a project before any session of it: its first one is to be told already.

        Its folder counts as the repository that it was just found to be, for hooks, too.
        """
        with self.store.transaction():
            self.store.projects.note(project)
            if project.root:
                self.store.projects.note_place(project.root, project.id, project.seen_at)
        publish_joined(self.store, self.home.joined, self.confirmed(), self.settings.project_monorepo)
        if project.root:
            self.project_at(Path(project.root))

    def _joined(self) -> "Membership":
        if (found := self.membership()) is None:
            raise UsageError(
                "this home belongs to no team: `backstory team join LINK`, with an invitation's link"
            )
        return found

    def _own_memory(self, handle: str) -> Memory:
        full = full_id(self.store, handle)
        memory = self.store.memories.memory(full) if full.startswith("m") else None
        if memory is None or memory.author:
            raise SourceMissing(
                f"{handle!r} is no memory of yours; `backstory review` lists them with handles"
            )
        return memory


def _link(link: str) -> tuple[str, str]:
    """The server's address and the invitation of a link such as https://memory.acme.dev/j/8F3K…"""
    parts = urlsplit(link.strip())
    path, slash, invite = parts.path.rstrip("/").rpartition("/j/")
    if parts.scheme not in ("http", "https") or not parts.netloc or not slash or not invite:
        raise UsageError("that is no invitation: it looks like https://memory.example.com/j/8F3K…")
    return f"{parts.scheme}://{parts.netloc}{path}", invite


def rows_json(choice: "Choice") -> list[dict[str, object]]:
    """What leaves, as it crosses the wire."""
    rows: list[dict[str, object]] = json.loads(json.dumps([each.row.as_json() for each in choice.rows]))
    return rows
