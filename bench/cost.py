"""What a model costs: a session of 300 tools, captured, distilled, read by the scripted model over HTTP.

    python -m bench.cost [--tools 75,150,300,600] [--sessions 1,2,4] [--json]

Each row is a home of its own. A session goes through the spool in turns of ten tools (files read and
changed, commands that pass and fail, outputs of 4 kB), the worker's rounds run after every stop, and the
model is asked as the settings' defaults say: once, when the session has ended. Tokens are counted from what
the model really received (question, instructions and schema; characters / 3.6), and from the scripted answer,
which is as long as the instructions allow. Nothing here says how good a real model's answers are.
"""

import argparse
import dataclasses
import json
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.agents.model import Model
from tests.story import House, Story

from backstory import settings
from backstory.llm.prices import token_estimate
from backstory.model import Tier
from backstory.model_pass import ModelPass

TURN = 10
OUTPUT = "collected 41 items\n" + "tests/test_rates.py::test_rate PASSED\n" * 105
TARGET_IN, TARGET_OUT = 5_500, 800  # tokens of a session
OPERATIONS = 8


@dataclasses.dataclass(frozen=True)
class Row:
    """Sessions of one project, read by a model."""

    tools: int
    sessions: int
    calls: int
    tokens_in: int
    tokens_out: int
    captured: int
    said: int

    def line(self) -> str:
        """The row of the table."""
        return (
            f"{self.tools:>6}{self.sessions:>10}{self.captured:>13,}{self.calls:>7}{self.tokens_in:>11,}"
            f"{self.tokens_out:>8,}{self.tokens_in // self.sessions:>12,}{self.said:>10}"
        )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tools", default="75,150,300,600", help="lengths of the sessions")
    parser.add_argument("--sessions", default="2,4", help="how many sessions of 300 tools")
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args(argv)
    rows = [measure(int(tools), 1) for tools in wanted.tools.split(",")]
    rows += [measure(300, int(sessions)) for sessions in wanted.sessions.split(",") if sessions]
    if wanted.json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], indent=1))
    else:
        report(rows)
    return 0


def report(rows: list[Row]) -> None:
    """The table, in words that can be read without the code."""
    print(" tools  sessions   captured B  calls  tokens in     out  in/session  by model")
    for row in rows:
        print(row.line())
    inward = max(row.tokens_in / row.calls for row in rows)
    outward = max(row.tokens_out / row.calls for row in rows)
    calls = max(row.calls / row.sessions for row in rows)
    print(f"\nat worst {inward:,.0f} tokens in, {outward:,.0f} out, {calls:g} calls a session")
    print(f"target: at most {TARGET_IN:,} in, {TARGET_OUT:,} out, one call")


def measure(tools: int, sessions: int) -> Row:
    """So many sessions of so many tools; the worker runs after each of their stops."""
    with tempfile.TemporaryDirectory(prefix="backstory-cost-") as folder:
        project = Path(folder, "shop")
        project.mkdir()
        subprocess.run(["git", "init", "--quiet", str(project)], check=True)
        house = House(Path(folder, "home"), project)
        house.home.root.mkdir(mode=0o700)
        model = Model(socket.create_server(("127.0.0.1", 0)))
        answers: list[str] = []

        def answer(log: str) -> str:
            answers.append(_answer(log))
            return answers[-1]

        model.aside("Log:", answer)
        for key, value in {"provider": "openai", "url": f"{model.url}/v1", "distil": "scripted"}.items():
            house.sets(f"model.{key}", value)
        try:
            return _replay(house, model, answers, tools, sessions)
        finally:
            model.close()
            house.close()


def _replay(house: House, model: Model, answers: list[str], tools: int, sessions: int) -> Row:
    chosen = settings.load_settings(house.home)[0]
    captured = said = 0
    for _ in range(sessions):
        story = house.session().starts()
        for turn in range(max(tools // TURN, 1)):
            _turn(story, turn)
            house.works()
            ModelPass(house.home, chosen, house.store).run()
        story.ends()
        house.works()
        ModelPass(house.home, chosen, house.store).run()
        house.works()
        captured += sum(event.payload_size for event in house.stored(story))
        said += sum(memory.tier is Tier.MODEL for memory in house.store.memories.of_session(story.id))
    asked = [request.body for request in model.requests]
    sent = sum(
        token_estimate(
            *(message["content"] for message in body["messages"]), json.dumps(body["response_format"])
        )
        for body in asked
    )
    return Row(tools, sessions, len(asked), sent, token_estimate(*answers), captured, said)


def _turn(story: Story, number: int) -> None:
    name = f"rates_{number}.py"
    story.prompts(
        f"Step {number}: make {name} round to whole cents, since the bank rejects fractions; keep the public "
        "interface as it is, and tell me what you had to change in the tests."
    )
    story.reads(name, OUTPUT).reads(f"tests/test_{name}", OUTPUT).runs(f"rg -n round src/{name}", OUTPUT)
    story.runs(f"pytest -q tests/test_{name}", fails=f"{OUTPUT}E  AssertionError: 0.335 != 0.34\n1 failed")
    story.edits(name, "return rate * amount", "return quantize(rate * amount)").edits(f"tests/test_{name}")
    story.runs(f"pytest -q tests/test_{name}", OUTPUT).runs("ruff check .", "All checks passed!")
    story.runs("git diff --stat", f" {name} | 4 ++--").runs(
        f"git commit -am 'Round in {name}'", "1 file changed"
    )
    story.stops(
        f"{name} rounds half even now, through Decimal.quantize, because floats lose the third digit. One "
        "test expected 0.335 and now expects 0.34. The public interface is unchanged. Left open: the report "
        f"still formats amounts itself, so step {number} is visible only in the ledger."
    )


def _answer(log: str) -> str:
    """What came of it, and as many operations as a model is asked for at most, each with its evidence."""
    found = re.findall(r"(?m)^\[(\d+)\] agent, closing: (\S+) rounds", log)
    made = [
        {
            "do": "add",
            "memories": [],
            "kind": "fact",
            "text": f"Amounts in {name} are rounded half even by Decimal.quantize, and the interface stays",
            "reason": "floats lose the third digit, so a test expected the wrong amount",
            "lines": [int(number)],
        }
        for number, name in found[-OPERATIONS:]
    ]
    cited = [int(number) for number, _ in found[-3:]]
    session = {
        "goal": "Have every module of rates round to whole cents, since the bank rejects fractions",
        "outcome": "Each module rounds half even through Decimal.quantize now, and its tests pass",
        "lines": cited,
        "open": [{"text": "The report still formats amounts itself", "lines": cited}],
    }
    return json.dumps({"session": session, "operations": made})


if __name__ == "__main__":
    sys.exit(main())
