"""The use cases of knowledge, for the surfaces: the log, the wiki, questions, facts, a host's bootstrap.

It stands beside `App`, which it asks for store, settings and projects; a vault has a lock of its own.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from backstory import clock
from backstory.app import App
from backstory.attribution import AN_AGENT, by_agent, told_as
from backstory.capture.privacy import Privacy
from backstory.errors import Failed, UsageError
from backstory.hook.brief_text import HANDLE
from backstory.knowledge import daily_log, discoveries, facts, lint_checks, question_answering
from backstory.knowledge.bootstrap import bootstrap
from backstory.knowledge.compiler import Compiled
from backstory.knowledge.daily_log import Appended, LogFailed, LogUsage
from backstory.knowledge.index_page import put_log
from backstory.knowledge.lint_checks import Issue
from backstory.knowledge.log_notes import load_standing
from backstory.knowledge.log_writer import LogWriter
from backstory.knowledge.page_transaction import Changes, take_back
from backstory.knowledge.question_answering import Reply
from backstory.knowledge.sharing_trust import is_trusted
from backstory.knowledge.vault import Vault, existing_vault, shared_vault, vault_of
from backstory.knowledge.vault_export import Exported
from backstory.knowledge.writer_protocol import Writer
from backstory.model import Memory, MemoryKind, Project, Speaker, speaker


@dataclass(frozen=True, slots=True)
class Day:
    """The log of a day, and where it lies; the text is "" if there is none."""

    day: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Linted:
    """What a check of the wiki found, what was mended first, and the page that says so."""

    issues: tuple[Issue, ...]
    fixed: int
    report: str


class KnowledgeBase:
    """What is written down, of one project and across projects."""

    def __init__(self, app: App, writer: Writer | None = None) -> None:
        self._app = app
        self._writer = writer or app.writer()
        self._zone = clock.zone(app.settings.time_zone)

    def vault(self, project: Project) -> Vault:
        """The vault of a project."""
        return vault_of(self._app.home, project)

    # --- the daily log -----------------------------------------------------------------------------------

    def log_of(self, project: Project, day: str = "", shared: bool = False) -> Day:
        """The log of a day, today's by default; sessions that are over are in it."""
        wanted = daily_log.checked_day(day) if day else self._today()
        if shared:
            vault = self._shared_for(project)
        else:
            vault = self.vault(project)
            self._catch_up(project)
        return Day(wanted, str(vault.page(f"daily/{wanted}")), daily_log.read_log(vault, wanted))

    def append(
        self,
        project: Project,
        lines: Sequence[str],
        source: str = "",
        day: str = "",
        at: str = "",
        shared: bool = False,
        said_by: Speaker = Speaker.USER,
    ) -> Appended:
        """Append lines to the log of a day; secrets are taken out first. An agent's lines say so."""
        wanted = daily_log.checked_day(day) if day else self._today()
        time = daily_log.checked_time(at) if at else f"{clock.in_zone(clock.now_ms(), self._zone):%H:%M}"
        vault = self._shared_for(project) if shared else self.vault(project)
        tag = source or (project.name if shared else "user")
        clean = Privacy(self._app.settings)
        # As one text: a private key, a private span or a table is recognised by more than one of its lines.
        said = [line for line in clean.text("\n".join(lines)).splitlines() if line.strip()]
        if said_by is Speaker.AGENT:
            tag, said = f"{AN_AGENT} ({source})" if source else AN_AGENT, list(map(by_agent, said))
        if not said:
            raise LogUsage("there is no line to append: give --line, --file, or write to stdin")
        with _log_failures(), vault.held():
            return daily_log.append_lines(vault, wanted, time, clean.text(tag), said)

    def _shared_for(self, project: Project) -> Vault:
        if not is_trusted(project, self._app.settings.project_trust):
            raise LogUsage(
                f"the project {project.name} may not use what is shared: "
                "the setting project.trust leaves it out"
            )
        return shared_vault(self._app.home)

    # --- the wiki ----------------------------------------------------------------------------------------

    def compile(
        self, project: Project, everything: bool = False, only: str = "", dry: bool = False
    ) -> Compiled:
        """Bring a project's wiki up to date, or only tell what that would do."""
        self._catch_up(project)
        vault, hand = existing_vault(self.vault(project)), self._writing()
        done = hand.compiled(vault, project.id, everything=everything, only=only, dry=dry, prose=True)
        if self._writer is None or dry:
            return done
        pages, trouble = hand.introduced(vault, self._writer)
        updated = dict.fromkeys([*done.updated, *(page for page in pages if page not in done.created)])
        return replace(done, updated=tuple(updated), skipped=(*done.skipped, *filter(None, [trouble])))

    def export(self, project: Project, folder: str = "") -> Exported | None:
        """Copy a project's vault into its repository: into this folder, or where the setting says."""
        return self._writing().exported(existing_vault(self.vault(project)), project, folder)

    def lint(self, project: Project, structural: bool = False, mend: bool = False) -> Linted:
        """Check a project's wiki, mend what needs no thought if so wished, and write the report."""
        vault, hand = existing_vault(self.vault(project)), self._writing()
        with vault.held():
            fixed = hand.mended(vault) if mend else 0
            found = lint_checks.lint_vault(vault)
        if self._writer is not None and not structural and not mend:  # nobody waits for a model
            found += lint_checks.contradictions(vault, self._writer)
        with vault.held():
            page = hand.report(vault, lint_checks.by_weight(found), fixed)
        return Linted(tuple(lint_checks.by_weight(found)), fixed, str(vault.file(page)))

    # --- questions ---------------------------------------------------------------------------------------

    def ask(self, project: Project, question: str, file_back: bool = False) -> Reply:
        """Answer a question from the wiki and the memory of a project; file the answer if so wished."""
        if not question.strip():
            raise UsageError("there is no question: write it behind `backstory ask`")
        clean = Privacy(self._app.settings).text(question.strip())
        found = self._app.search(clean, project.id)
        vault = self.vault(project)
        hidden = load_standing(self._app.store, project.id).hidden
        most = question_answering.OUTCOMES
        came_of = self._app.store.memories.of_project(project.id, [MemoryKind.SUMMARY], most)
        reply = question_answering.answer_question(
            vault, clean, [] if found.abstained else found.hits, self._writer, hidden, came_of
        )
        if not vault.root.is_dir() or (self._app.only_reads and not file_back):
            return reply
        with vault.held():
            take_back(vault)
            changes = Changes(vault)
            if file_back and reply.known:
                reply = replace(
                    reply, filed=question_answering.file_back(vault, changes, reply, self._stamp())
                )
            else:
                put_log(changes, self._stamp(), "ask", [], [], clean)
            changes.write()
        return reply

    # --- facts and discoveries ---------------------------------------------------------------------------

    def keep_fact(self, project: Project, memory: Memory, kind: str, name: str = "") -> tuple[str, list[str]]:
        """Write a typed fact down at once; gives its page, and what is wrong with the index since."""
        vault = self.vault(project)
        with vault.held():
            take_back(vault)
            changes = Changes(vault)
            clean = Privacy(self._app.settings).text(name)
            by = told_as(memory) if speaker(memory.said_by) is Speaker.AGENT else ""
            address = facts.plan_fact(
                changes, kind, memory.text, clean, memory.id[:HANDLE], self._today(), by
            )
            changes.write()
        return address, [text for text, severity in facts.index_problems(vault) if severity == "warning"]

    def discover(
        self,
        project: Project,
        what: str,
        context: str,
        promote_to: str,
        stamp: str = "",
        said_by: Speaker = Speaker.USER,
    ) -> bool:
        """Note a discovery; False if it is there already."""
        if said_by is Speaker.AGENT:
            what, context = by_agent(what), by_agent(context)
        clean = Privacy(self._app.settings).text
        vault = self.vault(project)
        changes = Changes(vault)
        when = stamp or self._stamp()
        discoveries.plan_discovery(
            changes, clean(what), clean(context), clean(promote_to), when
        )  # refused before a lock
        with vault.held():
            take_back(vault)
            changes = Changes(vault)
            new = discoveries.plan_discovery(changes, clean(what), clean(context), clean(promote_to), when)
            changes.write()
        return new

    # --- hosts -------------------------------------------------------------------------------------------

    def bootstrap(self, project: Project, about: str = "") -> str:
        """What a session of a host is told at its start."""
        self._catch_up(project)
        may = is_trusted(project, self._app.settings.project_trust)
        hidden = load_standing(self._app.store, project.id).hidden
        shared = shared_vault(self._app.home) if may else None
        return bootstrap(self.vault(project), shared, about, hidden=hidden)

    # --- parts -------------------------------------------------------------------------------------------

    def _catch_up(self, project: Project) -> None:
        """Sessions that are over are in the log before anybody reads it, unless nothing can be written."""
        self._app.catch_up()
        store = self._app.store
        logs = self._app.settings.knowledge_enabled and not store.only_reads
        if logs and store.projects.get(project.id) is not None:
            self._writing().log_project(project)

    def _writing(self) -> LogWriter:
        return LogWriter(self._app.home, self._app.settings, self._app.store)

    def _stamp(self) -> str:
        return clock.stamp(clock.now_ms(), self._zone)

    def _today(self) -> str:
        return clock.day_of(clock.now_ms(), self._zone)


@contextmanager
def _log_failures() -> Iterator[None]:
    """A log that cannot be written is said with its path and exits 1."""
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise LogFailed(f"the log cannot be written: {where}{error.strerror or error}") from None
    except Failed as error:
        raise LogFailed(str(error)) from None
