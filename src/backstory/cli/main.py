"""The group `backstory`: help without importing any command, and one way out for every error.

`--help` is drawn from a table, a command's module is imported when that command is called. Whatever goes
wrong ends in one line on stderr that says what to do next, with `--json` as JSON, and in one of `EXIT_CODES`.
"""

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from backstory import __version__
from backstory.errors import BackstoryError, DependencyMissing, UsageError

# section, then command and what it is for; the module has the command's name unless it says otherwise
SECTIONS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Use every day",
        (
            ("brief", "Print what a session starting in a folder would be told."),
            ("search", "Search what was asked, done and learned."),
            ("show", "Show what a handle stands for: a session, an event or a memory."),
            ("timeline", "List what happened, newest first."),
            ("remember", "Keep something for the sessions to come."),
            ("handoff", "Print a hand-over of a session, to go on in another agent."),
            ("serve", "Look at the memory in the browser: see, search, correct, forget."),
            ("review", "Look through what was learned: confirm, correct, reject, pin."),
        ),
    ),
    (
        "Set up",
        (
            ("install", "Connect coding agents to this memory."),
            ("uninstall", "Disconnect coding agents; the memory itself stays."),
            ("import", "Import the history that agents have kept themselves."),
            ("config", "Show or change settings."),
            ("mcp", "Serve the memory to an agent, as an MCP server."),
        ),
    ),
    (
        "Write down",
        (
            ("log", "Read the daily log, or append to it."),
            ("compile", "Bring the wiki of a project up to date with its daily logs."),
            ("lint", "Check the wiki of a project."),
            ("ask", "Answer a question from the wiki and the memory, with sources."),
        ),
    ),
    (
        "Host agents",
        (("session", "Register sessions, for hosts that run agents in groups."),),
    ),
    (
        "Share",
        (("team", "Share what was learned with a team, and with your own machines."),),
    ),
    (
        "Look after",
        (
            ("status", "Show how the memory is doing, in numbers."),
            ("doctor", "Check every step from an agent's hook to the printed brief."),
            ("jobs", "List the work that waits; retry or drop what is stuck."),
            ("cost", "Show what models have taken, and what they may take."),
            ("rebuild", "Make everything derived again from the stored events."),
            ("forget", "Delete something for good, with everything made from it."),
            ("scrub", "Take secrets out of what is stored already."),
            ("cleanup", "End sessions that nobody ended."),
            ("export", "Write everything that is kept, to keep or to move."),
            ("backup", "Copy the database into the backups."),
            ("restore", "Go back to a backup."),
            ("repair", "Build a new database from what a damaged one still gives."),
        ),
    ),
    (
        "Find the way",
        (
            ("help", "Show what a command does and which options it takes."),
            ("completion", "Print what makes a shell complete these commands."),
        ),
    ),
)
# What a command ends with. The errors of errors.py have theirs among these.
EXIT_CODES: tuple[tuple[int, str], ...] = (
    (0, "done"),
    (1, "wrong usage (2 with session, lint and log); with doctor --strict: something deserves attention"),
    (2, "something that was named does not exist; with doctor: memory does not work"),
    (3, "a part that this needs is not installed"),
    (4, "it was tried and failed"),
    (130, "interrupted"),
)
_MODULES = {
    "uninstall": "install",
    "compile": "wiki",
    "lint": "wiki",
    "ask": "wiki",
    "import": "import_",
    "help": "help_",
    "scrub": "forget",
    "restore": "backup",
    "repair": "backup",
}
# Commands whose function must not be called as they are: Python has a use for the name.
_SHADOWING = ("import", "compile", "help")
_STORY = """\
One memory for every coding agent: a session ends, and the next one,
in whichever agent, starts knowing what was done, decided and learned."""
_INTERRUPTED = 130
_FINAL = ("forget", "scrub", "restore", "uninstall")
_SURELY_MISTYPED = 0.8  # "forgte" is "forget"; "correct", at 0.62, is not
# Commands whose exit code 1 is an answer or a failure of its own: there wrong usage is 2.
_USAGE_EXITS = {"session": 2, "lint": 2, "log": 2}


class Group(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of the help."""
        return [name for _, commands in SECTIONS for name, _ in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"backstory.cli.{_MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, f"{cmd_name}_" if cmd_name in _SHADOWING else cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the nearest name for a mistyped one."""
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            import difflib

            from backstory.model import Act

            # what people want to do to a memory; a guess must not lead to what cannot be taken back
            near = ["review"] if args[0] in (*Act, "correct") else []
            near = near or [
                each
                for each in difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
                if each not in _FINAL
                or difflib.SequenceMatcher(None, args[0], each).ratio() >= _SURELY_MISTYPED
            ]
            ctx.fail(f"there is no command {args[0]!r}" + (f", did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table above, without importing anything."""
        for title, commands in SECTIONS:
            with formatter.section(title):
                formatter.write_dl(list(commands), col_max=12)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The exit codes, then where more is told."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in EXIT_CODES], col_max=12)
        super().format_epilog(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, from the table: no command is imported while somebody types."""
        found = [
            CompletionItem(name, help=line)
            for _, commands in SECTIONS
            for name, line in commands
            if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> NoReturn:
        """Run a command and leave with its exit code; nothing is raised but SystemExit."""
        extra.update(prog_name="backstory", standalone_mode=False)
        code = 0
        words: list[str] = []
        try:
            words = [_readable(word) for word in (sys.argv[1:] if args is None else args)]
            code = super().main(words, **extra) or 0
            if sys.stdout is not None:
                sys.stdout.flush()
        except BaseException as error:  # this is the edge
            code, message = _outcome(error)
            if isinstance(error, click.ClickException | UsageError):
                code = _USAGE_EXITS.get(next((word for word in words if word[:1] != "-"), ""), code)
            if message:
                _complain(message, error, code if _wants_json(words) else None)
            _let_go_of_stdout()
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader who has seen enough (`| head`) is no error."""
        try:
            with contextlib.suppress(AttributeError):  # not a text stream of ours, or none at all
                sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
                sys.stderr.reconfigure(errors="replace")  # type: ignore[union-attr]
            super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError as error:
            raise _ReaderGone from error


class _ReaderGone(Exception):
    """Whoever read our output has stopped."""


def _readable(word: str) -> str:
    """An argument that is not UTF-8 reads as hooks and database would read it."""
    try:
        return word if word.isascii() else os.fsencode(word).decode("utf-8", "replace")
    except UnicodeEncodeError:  # half a character that no file system knows
        return word.encode("utf-8", "replace").decode()


def _let_go_of_stdout() -> None:
    """Where nothing more can be written, the interpreter must not try at its end and exit with 120."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ValueError:
        pass  # it is closed


def _wants_json(words: Sequence[str]) -> bool:
    """Whether a program reads what the command prints."""
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _outcome(error: BaseException) -> tuple[int, str]:
    """The exit code of an error, and in one line what went wrong; "" where there is nothing to say."""
    match error:
        case SystemExit():
            return error.code if isinstance(error.code, int) else 0, ""
        case _ReaderGone():
            return 0, ""
        case KeyboardInterrupt() | click.Abort():
            return _INTERRUPTED, ""
        case click.ClickException():
            return 1, _usage(error)
        case BackstoryError():
            return error.exit_code, str(error)
        case ModuleNotFoundError():
            found = f"the module {error.name} is missing here"
            return DependencyMissing.exit_code, f"{found}: install Backstory again, or with another Python"
        case OSError():
            what = error.strerror or str(error)
            where = f"{error.filename}: " if error.filename else ""
            todo = "`backstory doctor` tells more"
            if isinstance(error, PermissionError):
                todo = "`backstory doctor --fix` repairs permissions"
            return 4, f"{where}{what}; {todo}"
        case _ if type(error).__module__ == "sqlite3":
            return 4, f"the database cannot be used: {error}; `backstory doctor` tells more"
        case _:
            from backstory.cli import log_file

            kept = log_file.keep_traceback(error)
            details = f"the details are in {kept}" if kept else "BACKSTORY_DEBUG=1 shows the details"
            return 4, f"unexpected {type(error).__name__}: {error}; {details}, please report them"


def _usage(error: click.ClickException) -> str:
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else "backstory"
    message = error.format_message().rstrip(".")
    usage = f" u{ctx.get_usage()[1:]};" if ctx else ""
    if ctx and isinstance(error, click.NoSuchOption) and _takes_words(ctx.command):
        usage += f" if it is no option, write -- before it: `{path} -- {error.option_name}`;"
    return f"{message}{'' if message.endswith(('?', ')')) else ';'}{usage} `{path} --help` shows how"


def _takes_words(command: click.Command) -> bool:
    """Whether a command takes any number of words, which may look like options."""
    return any(isinstance(each, click.Argument) and each.nargs == -1 for each in command.params)


def _complain(message: str, error: BaseException, exit_code: int | None) -> None:
    """One line on stderr; with an exit code one of JSON, for a program."""
    from backstory.present.plain_text import one_line, to_json

    if os.environ.get("BACKSTORY_DEBUG"):
        import traceback

        click.echo("".join(traceback.format_exception(error)), err=True)
    told = f"backstory: {one_line(message)}"
    if exit_code is not None:
        told = to_json({"error": one_line(message), "exit": exit_code}, indent=None)
    with contextlib.suppress(OSError):
        click.echo(told, err=True)


@click.group(
    cls=Group,
    help=f"\b\n{_STORY}",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`backstory help COMMAND` tells more; so does docs/cli.md.",
)
@click.version_option(__version__, message="backstory %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """The entry point of the command `backstory`."""
    cli.main()
