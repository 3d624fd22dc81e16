"""`backstory compile`, `lint` and `ask`: the wiki, brought up to date, checked, questioned."""

import sys

import click

from backstory.cli.output import Styled, json_option, line, print_json, table, talk
from backstory.cli.project_scope import chosen_folder, cwd_option, open_app
from backstory.errors import UsageError
from backstory.knowledge_base import KnowledgeBase
from backstory.present.plain_text import count_of


@click.command("compile")
@cwd_option
@click.option("--project", metavar="NAME", help="The project with this name or id.")
@click.option("--all", "everything", is_flag=True, help="All logs again, not only those that changed.")
@click.option("--file", "only", metavar="LOG", help="Only this log, such as 2026-11-16.md.")
@click.option("--dry-run", "dry", is_flag=True, help="Only tell what would be compiled.")
@click.option(
    "--export", "into", metavar="FOLDER", help="Copy the vault into this folder of the repository, too."
)
@json_option
def compile_(
    cwd: str | None,
    project: str | None,
    everything: bool,
    only: str | None,
    dry: bool,
    into: str | None,
    as_json: bool,
) -> None:
    """Bring the wiki of a project up to date with its daily logs.

    Articles by topic, connections, an index, a page for each week: Markdown in the home's folder knowledge.
    Logs that did not change are left alone. All pages are written together or, if it fails, none. A copy in
    the repository (--export, or the setting knowledge.export) touches no file but its own.
    """
    if everything and only:
        raise UsageError("--all and --file exclude each other: give one of them")
    if dry and into is not None:
        raise UsageError("--dry-run and --export exclude each other: give one of them")
    with open_app() as app:
        library = KnowledgeBase(app)
        where = app.project_named(project) if project is not None else app.project_at(chosen_folder(cwd))
        done = library.compile(where, everything, only or "", dry)
        copy = None if dry else library.export(where, into or "")
        root = library.vault(where).root
    if as_json:
        told = {name: getattr(done, name) for name in done.__slots__}
        print_json({"dry_run": dry, "vault": root, **told, "exported": copy})
        return
    for page in done.taken_back:
        talk(f"Taken back, a compilation was killed over it: {page}")
    for said in done.skipped:
        talk(said)
    for name, pages in (("new", done.created), ("changed", done.updated), ("gone", done.removed)):
        for page in pages:
            line(f"{name:8}{page}")
    what = ", ".join(f"{each.day} ({each.how})" for each in done.days) or "no log changed"
    talk(f"{'Would compile' if dry else 'Compiled'}: {what}. {root}")
    if copy is not None:
        talk(f"Copied into {copy.folder}: {len(copy.written)} written, {len(copy.removed)} removed.")
        for page in copy.left:
            talk(f"Left as it is, it is not ours or was changed: {page}")
    for day in done.damaged:
        talk(
            f"What was compiled of {day} is damaged, and that log is not read again unasked: "
            f"`backstory compile --file {day}.md` does it."
        )
    if done.left:
        talk(f"{count_of(len(done.left), 'log')} left for the next time: {', '.join(done.left)}")


@click.command()
@cwd_option
@click.option("--project", metavar="NAME", help="The project with this name or id.")
@click.option("--structural-only", "structural", is_flag=True, help="Ask no model.")
@click.option(
    "--fix", "mend", is_flag=True, help="Mend what needs no thought: backlinks, rows of the indexes."
)
@json_option
def lint(cwd: str | None, project: str | None, structural: bool, mend: bool, as_json: bool) -> None:
    """Check the wiki of a project.

    Broken links, orphans, logs that were never compiled or have changed since, one-way links, short articles,
    and, if there is a model, contradictions. Writes a dated report; exits 1 if and only if there is an error.
    """
    with open_app() as app:
        where = app.project_named(project) if project is not None else app.project_at(chosen_folder(cwd))
        done = KnowledgeBase(app).lint(where, structural, mend)
    errors = sum(issue.severity == "error" for issue in done.issues)
    if as_json:
        print_json(done)
    else:
        styles = {"error": "red", "warning": "yellow", "suggestion": "dim"}
        rows: list[list[str | Styled]] = [
            [(one.severity, styles[one.severity]), one.check, one.page, one.text] for one in done.issues
        ]
        if rows:
            table(rows)
        mended = f"{count_of(done.fixed, 'page')} mended; " if mend else ""
        issues = f"{count_of(errors, 'error')}, {count_of(len(done.issues), 'issue')} in all"
        talk(f"{mended}{issues}. {done.report}")
    sys.stdout.flush()
    sys.exit(1 if errors else 0)


@click.command()
@click.argument("question", nargs=-1, required=True)
@cwd_option
@click.option("--project", metavar="NAME", help="The project with this name or id.")
@click.option("--file-back", is_flag=True, help="File the answer as an article of the wiki.")
@json_option
def ask(
    question: tuple[str, ...], cwd: str | None, project: str | None, file_back: bool, as_json: bool
) -> None:
    """Answer a question from the wiki and the memory, with sources.

    Without a model the answer is made of the best passages, each with its source. If nothing answers the
    question, that is what it says.
    """
    with open_app() as app:
        where = app.project_named(project) if project is not None else app.project_at(chosen_folder(cwd))
        found = KnowledgeBase(app).ask(where, " ".join(question), file_back)
    if as_json:
        print_json(found)
        return
    line(found.text)
    if found.note:
        talk(found.note)
    if found.known:
        sources = [f"[[{page}]]" for page in found.articles] + [
            f"`backstory show {one}`" for one in found.memories
        ]
        talk(f"Sources: {', '.join(sources)}")
    if found.filed:
        talk(f"Filed: {found.filed}")
