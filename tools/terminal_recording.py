"""Writes docs/first-error.svg: a terminal recording of a known error that returns in a second session.

    terminal_recording.py            run the story and write the recording
    terminal_recording.py --check    run the story; exit 1 if the recording shows other lines

The story runs in a scratch home with the program `backstory` that lies beside this Python. Commands, hooks
and their answers are real; the agent alone is played back: what it would send to its hooks is sent here. A
line of the recording is compared without what differs from run to run: ages, dates and handles.
"""

import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "first-error.svg"
COLUMNS = 100
_SHOP = {
    "build/.gitignore": "*\n!.gitignore\n",
    "shop/__init__.py": "",
    "shop/invoice.py": """\
import sqlite3

articles = sqlite3.connect("build/shop.db").execute("select article, cents from price_list")
print(f"invoice: {sum(cents for _, cents in articles)} cents")
""",
    "tools/load_fixtures.py": """\
import sqlite3

with sqlite3.connect("build/shop.db") as db:
    db.execute("create table price_list (article, cents)")
    db.execute("insert into price_list values ('tea', 450)")
print("price_list: 1 row")
""",
}
_FAILS, _MENDS = "python3 -m shop.invoice", "python3 tools/load_fixtures.py"
_VARIES = (
    (re.compile(r"\b[mes][0-9a-f]{8}\b"), "HANDLE"),
    (re.compile(r"just now|today \d\d:\d\d|\d+ (?:s|min|h) ago"), "AGO"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "DATE"),
)
_PATIENCE = 60.0  # seconds for the worker on a busy machine


@dataclass(frozen=True)
class Line:
    """One line on the screen: its text, its colour, and how long the reader waits for it."""

    text: str
    style: str = "plain"
    pause: float = 0.15


class Scratch:
    """A home, a repository, and a session of Claude Code that sends what the client sends."""

    def __init__(self, folder: Path) -> None:
        self.user, self.shop, self.second = folder / "user", folder / "shop", folder / "shop-vat"
        (self.user / ".claude").mkdir(parents=True)
        programs = Path(sys.executable).parent
        self.environment = {
            "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '/usr/bin:/bin')}",
            "HOME": str(self.user),
            "LANG": "C.UTF-8",
        }
        for name, text in _SHOP.items():
            (self.shop / name).parent.mkdir(parents=True, exist_ok=True)
            (self.shop / name).write_text(text)
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("-c", "user.name=Sam", "-c", "user.email=sam@example.com", "commit", "-qm", "Invoices")
        self.calls = 0

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.shop, env=self.environment, check=True)

    def run(self, command: str, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["sh", "-c", command],
            cwd=folder or self.shop,
            env=self.environment,
            capture_output=True,
            text=True,
        )

    def hook(self, event: str, session: str, folder: Path, **payload: Any) -> str:
        """Run the hooks that `backstory install` wrote for this event; what they told the agent."""
        settings = json.loads((self.user / ".claude" / "settings.json").read_text("utf-8"))
        whole = {"session_id": session, "cwd": str(folder), "hook_event_name": event, **payload}
        told = []
        for group in settings["hooks"].get(event, ()):
            for hook in group["hooks"]:
                done = subprocess.run(
                    ["sh", "-c", hook["command"]],
                    input=json.dumps(whole),
                    cwd=folder,
                    env=self.environment,
                    capture_output=True,
                    text=True,
                    check=True,
                )
                if done.stdout:
                    told.append(json.loads(done.stdout)["hookSpecificOutput"].get("additionalContext", ""))
        return "\n".join(told)

    def agent_runs(self, command: str, session: str, folder: Path) -> tuple[str, str]:
        """The agent runs a command; the last line of its output, and what a hook told the agent."""
        self.calls += 1
        used = {
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": f"toolu_{self.calls:02}",
        }
        told = self.hook("PreToolUse", session, folder, **used)
        done = self.run(command, folder)
        output = done.stdout + done.stderr
        if done.returncode:
            error = f"Exit code {done.returncode}\n{output}"
            told += self.hook("PostToolUseFailure", session, folder, **used, error=error)
        else:
            result = {"stdout": done.stdout, "stderr": done.stderr, "interrupted": False}
            told += self.hook("PostToolUse", session, folder, **used, tool_response=result)
        return output.strip().splitlines()[-1], told

    def stored(self) -> None:
        """Wait until the worker has stored, distilled and prepared everything, and has ended."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            status = json.loads(self.run("backstory status --json").stdout)
            jobs = json.loads(self.run("backstory jobs --json").stdout)["jobs"]
            due = [job for job in jobs if job["due"] <= time.time() * 1000]
            if status["events"] and not (status["spooled"] or due or status["worker_running"]):
                return
            time.sleep(0.2)
        sys.exit(f"the worker has not finished within {_PATIENCE:.0f} s: {jobs}")


def story() -> list[Line]:
    """Everything that the recording shows, from a run of now."""
    with tempfile.TemporaryDirectory(prefix="backstory-recording-") as folder:
        scratch = Scratch(Path(folder).resolve())
        lines = [Line("$ backstory install claude-code --yes", "command", 0.6)]
        done = scratch.run("backstory install claude-code --yes")
        added = [row for row in done.stdout.splitlines() if row.startswith("  add ")]
        lines += [Line(_cut(row.replace(str(scratch.user), "~")), "plain", 0.3) for row in added]
        lines += [Line(row, "quiet") for row in done.stderr.splitlines()]

        lines += _heading("A session of Claude Code in shop/")
        first, folder_of_first = "5f1c8a52-0000-4000-8000-000000000001", scratch.shop
        lines += _begin(scratch, first, folder_of_first, "Print the invoice.")
        for command in (_FAILS, _MENDS, _FAILS):
            lines += _step(scratch, command, first, folder_of_first)
        said = "The invoice prints: the price list had to be loaded first."
        scratch.hook("Stop", first, folder_of_first, last_assistant_message=said)
        scratch.hook("SessionEnd", first, folder_of_first, reason="prompt_input_exit")
        scratch.stored()

        lines += _heading("The next session, in a fresh work tree: the error returns")
        scratch.git("worktree", "add", "-q", str(scratch.second), "-b", "vat")
        second = "5f1c8a52-0000-4000-8000-000000000002"
        lines += _begin(scratch, second, scratch.second, "Add VAT to the invoice.")
        lines += _step(scratch, _FAILS, second, scratch.second)
        scratch.hook("SessionEnd", second, scratch.second, reason="prompt_input_exit")
        scratch.stored()
        return lines


def _begin(scratch: Scratch, session: str, folder: Path, prompt: str) -> list[Line]:
    scratch.hook("SessionStart", session, folder, source="startup")
    scratch.hook("UserPromptSubmit", session, folder, prompt=prompt)
    return [Line(f"> {prompt}", "prompt", 1.0)]


def _step(scratch: Scratch, command: str, session: str, folder: Path) -> list[Line]:
    """One call of the agent, and the note that its hook answered with, if any."""
    last, told = scratch.agent_runs(command, session, folder)
    lines = [
        Line(f"● Bash({command})", "call", 0.9),
        Line(_cut(f"  └  {last}"), "error" if "Error" in last else "plain", 0.6),
    ]
    if told:
        lines.append(Line("  └  Backstory's hook answers:", "quiet", 0.8))
        for row in told.splitlines():
            style = "fix" if row.startswith("- ") else "note"
            wrapped = textwrap.wrap(row, COLUMNS - 5, subsequent_indent="  ", break_on_hyphens=False)
            lines += [Line(f"     {part}", style, 0.25) for part in wrapped]
    return lines


def _heading(text: str) -> list[Line]:
    return [Line("", "plain", 0.4), Line(f"── {text} ", "heading", 0.8)]


def _cut(text: str) -> str:
    return text if len(text) <= COLUMNS else text[: COLUMNS - 1] + "…"


def essential(lines: list[str]) -> list[str]:
    """The lines without what differs from run to run, and without how they were wrapped."""
    rows: list[str] = []
    for line in lines:
        for pattern, word in _VARIES:
            line = pattern.sub(word, line)
        if line.startswith("       ") and rows:
            rows[-1] += f" {line.strip()}"
        elif line:
            rows.append(line)
    return rows


def shown(svg: str) -> list[str]:
    """The lines of a recording, read from its file."""
    tree = ElementTree.fromstring(svg)  # noqa: S314 - our own file
    return [
        node.text or ""
        for node in tree.iter("{http://www.w3.org/2000/svg}text")
        if node.get("class") != "title"
    ]


_ROW, _TOP, _LEFT, _CHARACTER = 20, 62, 20, 8.43  # pixels
_STYLE = """\
text { font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre;
  fill: #c9d1d9; animation: appear .2s backwards; }
.title { fill: #8b949e; animation: none; text-anchor: middle; }
.command, .prompt { fill: #ffffff; font-weight: bold; }
.call { fill: #79c0ff; } .error { fill: #ff7b72; } .heading { fill: #d2a8ff; } .quiet { fill: #8b949e; }
.note { fill: #8b949e; } .fix { fill: #7ee787; font-weight: bold; }
@keyframes appear { from { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { text { animation: none; } }"""


def drawing(lines: list[Line]) -> str:
    """The recording: each line appears in its time and stays; without animation all of them are there."""
    width, height = round(COLUMNS * _CHARACTER) + 2 * _LEFT, _TOP + len(lines) * _ROW + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>Terminal: an error returns in a second session, and Backstory tells its known fix</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
        *(
            f'<circle cx="{x}" cy="19" r="6" fill="{fill}"/>'
            for x, fill in ((22, "#ff5f57"), (42, "#febc2e"), (62, "#28c840"))
        ),
        f'<text class="title" x="{width // 2}" y="24">recorded by tools/terminal_recording.py; '
        "the agent is played back</text>",
    ]
    at = 0.5
    for number, line in enumerate(lines):
        at += line.pause
        place = f'x="{_LEFT}" y="{_TOP + number * _ROW}" style="animation-delay:{at:.2f}s"'
        parts.append(f'<text class="{line.style}" {place} xml:space="preserve">{escape(line.text)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def main(arguments: list[str]) -> int:
    """Write the recording, or check that it shows what a run of now shows."""
    lines = story()
    if "--check" in arguments:
        now, kept = essential([line.text for line in lines]), essential(shown(TARGET.read_text("utf-8")))
        for row in difflib.unified_diff(kept, now, "the recording", "a run of now", lineterm=""):
            print(row, file=sys.stderr)
        if now != kept:
            print(f"{TARGET.relative_to(ROOT)} is stale: run `make docs`", file=sys.stderr)
        return int(now != kept)
    TARGET.write_text(drawing(lines), "utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
