"""The story that `make demo` tells, in a scratch home: a session is killed, and the next agent knows.

Nothing is faked: the events go through the very hook commands that `backstory install` writes, as processes,
and the brief is what the hook answers. Only the agents themselves are played back from a recording.

python demo/story.py [--serve]        # --serve: then the viewer over that home, until Ctrl-C
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from scripted_model import scripted_model

HERE = Path(__file__).parent
SHOP = {  # the files that the recorded session leaves behind
    "shop/auth/jwt.py": "kid = header(token).get('kid', 'default')\nalgorithm = 'RS256'\n",
    "shop/auth/keys.py": "KEYS = load(CURRENT) | load(PREVIOUS)\n",
}
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "BROWSER")  # what a browser needs to be opened
PATIENCE = 20.0  # seconds
console = Console(width=min(Console().width, 110), highlight=False)


def main() -> None:
    """Tell the story from beginning to end."""
    with tempfile.TemporaryDirectory(prefix="backstory-demo-") as folder:
        scratch = Scratch(Path(folder))
        console.print(Rule("[bold]Backstory: one memory for every coding agent", style="cyan"))
        say("Everything below happens in a scratch home and is removed at the end.")
        install(scratch)
        first_session(scratch)
        second_session(scratch)
        search(scratch)
        written_down(scratch)
        with_a_model(scratch)
        secrets(scratch)
        if "--serve" in sys.argv:
            look(scratch)
        for_real()


class Scratch:
    """A home, a project and an environment that touch nothing of the user's."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "shop"
        for file, text in SHOP.items():
            (self.project / file).parent.mkdir(parents=True, exist_ok=True)
            (self.project / file).write_text(text)
        self.env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(folder / "user"),
            "BACKSTORY_HOME": str(self.home),
            "TERM": os.environ.get("TERM", "dumb"),
        }
        if shutil.which("git"):
            subprocess.run(["git", "init", "-q", "-b", "main", str(self.project)], check=True, env=self.env)

    def backstory(self, *arguments: str) -> str:
        """Run the command line in the scratch home; what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "backstory", *arguments],
            env=self.env,
            cwd=self.project,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def settings(self) -> dict[str, Any]:
        """Claude Code's settings, as the installer left them."""
        path = Path(self.env["HOME"]) / ".claude" / "settings.json"
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    def fire(self, command: str, payload: dict[str, Any]) -> tuple[str, float]:
        """Run a hook as an agent does; what it answered, and how many milliseconds it took."""
        start = time.perf_counter()
        done = subprocess.run(
            ["sh", "-c", command],
            input=json.dumps(payload),
            env=self.env,
            cwd=self.project,
            capture_output=True,
            text=True,
        )
        return done.stdout, (time.perf_counter() - start) * 1000


def say(text: str) -> None:
    console.print(Text(text, style="dim"))


def chapter(number: int, title: str) -> None:
    console.print()
    console.print(Rule(f"[bold]{number}. {title}", align="left", style="cyan"))


def install(scratch: Scratch) -> None:
    chapter(1, "Install for Claude Code")
    console.print("[bold green]$[/] backstory install claude-code --yes")
    scratch.backstory("install", "claude-code", "--yes")
    events = ", ".join(scratch.settings()["hooks"])
    say(f"Hooks: {events}.")


def first_session(scratch: Scratch) -> None:
    chapter(2, "Monday: a Claude Code session works on a bug, and is killed")
    recording = json.loads((HERE / "session.json").read_text().replace("{cwd}", str(scratch.project)))
    hooks = scratch.settings()["hooks"]
    spent = []
    for record in recording["events"]:
        payload = {
            "session_id": recording["session_id"],
            "cwd": str(scratch.project),
            "hook_event_name": record["event"],
            **record["payload"],
        }
        _, took = scratch.fire(hooks[record["event"]][0]["hooks"][0]["command"], payload)
        if record["event"].startswith("PostTool"):
            spent.append(took)
        show_step(record["event"], record["payload"], scratch.project)
        time.sleep(0.25 if console.is_terminal else 0.05)
    step(
        "⚡",
        "bold red",
        Text.assemble(("kill -9 ", "bold red"), ("in mid-turn: no Stop, no SessionEnd", "dim")),
    )
    spent.sort()
    say(f"Each tool call cost the agent {spent[len(spent) // 2]:.1f} ms (median of the whole process).")


def show_step(event: str, payload: dict[str, Any], project: Path) -> None:
    inputs = payload.get("tool_input", {})
    if event == "UserPromptSubmit":
        step("you", "bold", Text(str(payload["prompt"]), style="bold"))
    elif event == "Stop":
        step("claude", "magenta", Text(str(payload["last_assistant_message"])))
    elif "command" in inputs:
        failed = event == "PostToolUseFailure"
        output = payload["error"] if failed else payload["tool_response"]["stdout"]
        line = next((row for row in str(output).splitlines() if "FAILED" in row or "passed" in row), "")
        step(
            "run ✗" if failed else "run ✓",
            "red" if failed else "green",
            Text.assemble(inputs["command"], "  ", (line, "dim")),
        )
    elif "file_path" in inputs:
        verb = "read" if payload["tool_name"] == "Read" else "edit"
        step(verb, "blue", Text(os.path.relpath(inputs["file_path"], project)))


def step(who: str, style: str, what: Text) -> None:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=8)
    grid.add_column()
    grid.add_row(Text(f"  {who}", style=style), what)
    console.print(grid)


def until_the_worker_went_home(scratch: Scratch, patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while any((scratch.home / "spool").glob("claude-code.*")) and time.monotonic() < deadline:
        time.sleep(0.1)


def coloured(brief: str) -> Text:
    text = Text()
    for line in brief.splitlines(keepends=True):
        if line.startswith("## "):
            text.append(line, style="bold cyan")
        elif line.startswith("- ["):
            origin, _, rest = line.partition("] ")
            text.append(origin + "] ", style="dim").append(rest)
        else:
            text.append(line, style="dim")
    return text


def second_session(scratch: Scratch) -> None:
    chapter(3, "Tuesday: Codex starts in the same folder, and is told this")
    until_the_worker_went_home(scratch)
    command = scratch.settings()["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    command = command.replace("BACKSTORY_AGENT=claude-code", "BACKSTORY_AGENT=codex")
    payload = {
        "session_id": "019a1b2c-codex",
        "cwd": str(scratch.project),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    answer, took = scratch.fire(command, payload)
    output = json.loads(answer)["hookSpecificOutput"]
    console.print(
        Panel(coloured(output["additionalContext"]), border_style="green", title="what Codex receives")
    )
    say(f"In Codex's own output shape (hookSpecificOutput), {took:.0f} ms, no model, no server.")


def search(scratch: Scratch) -> None:
    chapter(4, "Ask for more")
    question = "why RS256"
    console.print(f'[bold green]$[/] backstory search "{question}"')
    hits = json.loads(scratch.backstory("search", question, "--json", "--limit", "3"))["hits"]
    table = Table(box=None, pad_edge=False, show_header=False)
    for hit in hits:
        table.add_row(
            Text(hit["kind"], style="cyan"),
            Text(" ".join(hit["text"].split())[:180]),
            Text(hit["id"][:9], style="dim"),
        )
    console.print(table)


def written_down(scratch: Scratch) -> None:
    chapter(5, "Written down as Markdown: a daily log, and a wiki made from it")
    console.print(
        "[bold green]$[/] backstory cleanup --max-age 0   [dim]# the killed session gets its end[/]"
    )
    scratch.backstory("cleanup", "--max-age", "0")
    console.print("[bold green]$[/] backstory log")
    wanted = ("### ", "**Decisions", "**Lessons", "**Action", "- ")
    rows = [
        row for row in scratch.backstory("log").partition("### ")[2].splitlines() if row.startswith(wanted)
    ]
    told = [row for row in rows if "Asked: " not in row]
    console.print(Panel(markdown(told), border_style="green", title="from the daily log"))
    console.print("[bold green]$[/] backstory compile")
    scratch.backstory("compile")
    [vault] = (scratch.home / "knowledge").iterdir()
    [decided] = (vault / "concepts").glob("decision-*.md")
    page = decided.read_text().partition("\n# ")[2].splitlines()
    console.print(
        Panel(markdown([f"# {page[0]}", *page[1:]]), border_style="green", title=f"concepts/{decided.name}")
    )
    count = sum(1 for _ in vault.rglob("*.md"))
    say(f"{count} pages that open in Obsidian; no model was asked. docs/example-vault shows a whole day.")


def markdown(rows: list[str]) -> Text:
    text = Text()
    for row in rows:
        text.append(
            f"{row}\n", style="bold cyan" if row.startswith("#") else "bold" if row.startswith("**") else ""
        )
    text.rstrip()
    return text


def with_a_model(scratch: Scratch) -> None:
    chapter(6, "With a model, if you have one (here a recorded answer): one call for the session")
    before = told_at_start(scratch)
    with scripted_model(HERE / "answer.json") as (url, asked):
        for key, value in (
            ("model.url", url),
            ("model.distil", "a-small-model"),
            ("model.wiki", "off"),
            ("model.provider", "openai"),
        ):
            console.print(f"[bold green]$[/] backstory config {key} {value}")
            scratch.backstory("config", key, value)
        deadline = time.monotonic() + PATIENCE
        while told_at_start(scratch) == before and time.monotonic() < deadline:
            time.sleep(0.2)
        scratch.backstory("config", "model.provider", "off")
    news = [row for row in told_at_start(scratch) if row not in before]
    gone = [row for row in before if row not in told_at_start(scratch)]
    console.print(
        Panel(coloured("\n".join(gone)), border_style="dim", title="told by rules, and told better now")
    )
    console.print(
        Panel(coloured("\n".join(news)), border_style="green", title="what Wednesday's agent is told")
    )
    calls = json.loads(scratch.backstory("cost", "--calls", "--json"))["calls"]
    tokens = f"{sum(each['tokens_in'] for each in calls):,} + {sum(each['tokens_out'] for each in calls):,}"
    say(f"{len(asked)} call, {tokens} tokens; each sentence names the lines it rests on. docs/models.md")


def told_at_start(scratch: Scratch) -> list[str]:
    """The rows that a session which starts now is told."""
    text = scratch.backstory(
        "brief", "--cwd", str(scratch.project), "--agent", "codex", "--source", "startup"
    )
    return [row for row in text.splitlines() if row.startswith("- ")]


def secrets(scratch: Scratch) -> None:
    chapter(7, "The token in the prompt above is nowhere")
    secret = b"ghp_R8x2LmQ0vTz5Yk7Ns3Pd1Wc9Bf6Hj4Ga2Ue"
    scratch.backstory("status")
    kept = [path for path in scratch.home.rglob("*") if path.is_file() and "spool" not in path.parts]
    hits = [path for path in kept if secret in path.read_bytes()]
    say(f"Byte search over {len(kept)} files of the home: {len(hits)} hits: redacted before stored.")


def look(scratch: Scratch) -> None:
    chapter(8, "The same in the viewer, until Ctrl-C")
    console.print("[bold green]$[/] backstory serve")
    shown = {name: os.environ[name] for name in _DISPLAYS if name in os.environ}
    viewer = subprocess.Popen([sys.executable, "-m", "backstory", "serve"], env={**scratch.env, **shown})
    with contextlib.suppress(KeyboardInterrupt):
        viewer.wait()
    viewer.wait()


def for_real() -> None:
    chapter(9 if "--serve" in sys.argv else 8, "For real")
    console.print("  pipx install .            [dim]# or: uv tool install . — from this folder[/]")
    console.print("  backstory install claude-code")
    console.print("  backstory doctor")
    console.print()


if __name__ == "__main__":
    main()
