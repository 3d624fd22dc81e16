"""What asking a model about real sessions costs, through the installed program, its worker and a server.

    python -m bench.work.model_cost [PROJECT …] --data DIR [--keep FOLDER]

A project's sessions are imported one after the other, and the worker asks a scripted model about each, as the
settings' defaults say. Tokens are those of what the server received (instructions, schema and question;
characters / 3.6). The scripted answer adds as much as the instructions allow, so that what is known
grows with every session; nothing here says how good a real model's answers are.
"""

import argparse
import json
import os
import re
import socket
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.work.home import ScratchHome
from bench.work.labels import Labelled, load
from tests.agents.model import Model

from backstory.llm.prices import token_estimate

OPERATIONS, TEXT = 8, 200
_PATIENCE_SECONDS = 120
_SETTINGS = {
    "model.imported": "on", "model.wiki": "off", "model.distil": "scripted", "model.calls_hour": "1000",
    "model.day_tokens": "100000000", "knowledge.enabled": "off",
}  # fmt: skip


def main() -> None:
    """A line for each project, and for each session what was captured and sent."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("projects", nargs="*", help="all that have labels by default")
    given = os.environ.get("BACKSTORY_BENCH_DATA")
    parser.add_argument("--data", type=Path, default=Path(given, "work") if given else None)
    parser.add_argument("--sessions", type=int, default=sys.maxsize, metavar="N", help="only the first N")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write there what was asked, to be read")
    asked = parser.parse_args()
    if asked.data is None or not asked.data.is_dir():
        parser.error("name the folder of labelled projects with --data")
    print("project        sessions       bytes  calls  tokens in   most  out, most  known, most  asked twice")
    for name in asked.projects or sorted(p.parent.name for p in asked.data.glob("*/gold.json")):
        with tempfile.TemporaryDirectory() as scratch:
            measure(load(asked.data / name, Path(scratch)), Path(scratch), asked.sessions, asked.keep)


def measure(project: Labelled, scratch: Path, most: int, keep: Path | None) -> None:
    """Import a project's sessions one by one, and print what was sent."""
    model = Model(socket.create_server(("127.0.0.1", 0)))
    answers: list[str] = []

    def answer(log: str) -> str:
        answers.append(_answer(log))
        return answers[-1]

    model.aside("Log:", answer)
    sessions = project.sessions[:most]
    home = ScratchHome(scratch / "home", project.agent, (), sessions[0].cwd, by_meaning=False)
    for key, value in {**_SETTINGS, "model.url": f"{model.url}/v1", "model.provider": "openai"}.items():
        home.run("config", key, value)
    try:
        for session in sessions:
            home.add([session])
            _wait_for_answers(home)
    finally:
        home.close()
        model.close()
    questions = [request.body for request in model.requests]
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        for number, body in enumerate(questions):
            text = "\n\n".join(message["content"] for message in body["messages"])
            (keep / f"{project.name}-{number:02}.md").write_text(text, "utf-8")
    report(project.name, sum(len(each.text) for each in sessions), len(sessions), questions, answers)


def _wait_for_answers(home: ScratchHome) -> None:
    """Until nothing is to be asked any more; the worker asks when it has no other work."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        jobs = json.loads(home.run("jobs", "--json") or '{"jobs": []}')["jobs"]
        if not any(job["kind"] == "refine" and job["state"] != "done" for job in jobs):
            return
        time.sleep(0.5)
    print("not all was asked: what follows is too low", file=sys.stderr)


def report(name: str, size: int, sessions: int, questions: list[dict[str, Any]], answers: list[str]) -> None:
    """One row of the table."""
    inward = [_tokens(body) for body in questions] or [0]
    known = [len(_text(body).partition("\n\nLog:")[0]) for body in questions] or [0]
    about = Counter(_text(body).partition("\n\nLog:\n")[2][:300] for body in questions)
    print(
        f"{name:<15}{sessions:>8}{size:>12,}{len(questions):>7}{sum(inward):>11,}{max(inward):>7,}"
        f"{max(map(token_estimate, answers), default=0):>11,}{max(known) / 3.6:>13,.0f}"
        f"{sum(times > 1 for times in about.values()):>13}",
        flush=True,
    )


def _tokens(body: dict[str, Any]) -> int:
    texts = [message["content"] for message in body["messages"]]
    return token_estimate(*texts, json.dumps(body.get("response_format", {})))


def _text(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def _answer(log: str) -> str:
    """What came of it, and as much to add as a model is asked for at most, in words of the log."""
    lines = re.findall(r"(?m)^\[(\d+)\] [^:\n]{0,40}: (.+)$", log)[-OPERATIONS:]
    cited = [int(number) for number, _ in lines[-2:]]
    said = lines[-1][1][:TEXT] if lines else ""
    session = {"goal": said, "outcome": said, "lines": cited, "open": []}
    made = [
        {
            "do": "add",
            "memories": [],
            "kind": "fact",
            "text": text[:TEXT],
            "reason": "",
            "lines": [int(number)],
        }
        for number, text in lines
    ]
    return json.dumps({"session": session, "operations": made})


if __name__ == "__main__":
    main()
