"""What a model costs: a session of 300 tools, captured, distilled, read by the scripted model over HTTP.

    python -m bench.cost [--tools 75,150,300,600] [--json]

Each row is a home of its own. The session goes through the spool in turns of ten tools (files read and
changed, commands that pass and fail, outputs of 4 kB), the worker's rounds run after every stop, and the
model is asked as the settings' defaults say: every ten turns, and at the end. Tokens are counted from what
the model really received (question, instructions and schema; characters / 3.6). How many memories a real
model would write nobody knows before it has: the table says what its answers held, from stingy (4 a call) to
most (12).
"""

import argparse
import dataclasses
import json
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
TARGET = 1_500


@dataclasses.dataclass(frozen=True)
class Row:
    """One session, read by a model."""

    tools: int
    claims: int
    stops: bool
    calls: int
    tokens_in: int
    captured: int
    said: int
    stored: int

    @property
    def per_memory(self) -> float:
        return self.tokens_in / max(self.said, 1)

    def line(self) -> str:
        """The row of the table."""
        how = "after every stop" if self.stops else "once, at the end"
        return (
            f"{self.tools:>6}  {how:<18}{self.claims:>9}{self.calls:>7}{self.tokens_in:>11,}"
            f"{self.captured:>12,}{self.said:>10}{self.stored:>8}"
            f"{self.per_memory:>12,.0f}{self.tokens_in / self.tools:>10.1f}"
        )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tools", default="75,150,300,600", help="lengths of the sessions")
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args(argv)
    lengths = [int(each) for each in wanted.tools.split(",")]
    rows = [measure(300, claims, stops=True) for claims in (4, 8, 12)]
    rows += [measure(300, 8, stops=False)]
    growth = [rows[1] if tools == 300 else measure(tools, 8, stops=True) for tools in lengths]
    if wanted.json:
        print(json.dumps([dataclasses.asdict(row) for row in (*rows, *growth)], indent=1))
    else:
        report(rows, growth)
    return 0


def report(rows: list[Row], growth: list[Row]) -> None:
    """Both tables, in words that can be read without the code."""
    head = (
        " tools  worker              said/call  calls  tokens in  captured B  by model  stored"
        "  in/by model  in/tool"
    )
    print(head)
    for row in rows:
        print(row.line())
    worst = max(row.per_memory for row in rows)
    print(
        f"\ninput tokens per memory that the model added, at worst: {worst:,.0f} (target: at most {TARGET:,})"
    )
    print("\ngrowth: the same with sessions of other lengths\n" + head)
    for row in growth:
        print(row.line())
    first, last = growth[0], growth[-1]
    more, dearer = last.tools / first.tools, last.tokens_in / first.tokens_in
    print(f"\n{more:g} times the tools: {dearer:.2f} times the tokens")


def measure(tools: int, claims: int, stops: bool) -> Row:
    """One session of so many tools; the worker runs after each of its stops, or once."""
    with tempfile.TemporaryDirectory(prefix="backstory-cost-") as folder:
        project = Path(folder, "shop")
        project.mkdir()
        subprocess.run(["git", "init", "--quiet", str(project)], check=True)
        house = House(Path(folder, "home"), project)
        house.home.root.mkdir(mode=0o700)
        model = Model(socket.create_server(("127.0.0.1", 0)))
        model.aside("Log:", lambda log: _answer(log, claims))
        for key, value in {"provider": "openai", "url": f"{model.url}/v1", "distil": "scripted"}.items():
            house.sets(f"model.{key}", value)
        try:
            return _replay(house, model, tools, claims, stops)
        finally:
            model.close()
            house.close()


def _replay(house: House, model: Model, tools: int, claims: int, stops: bool) -> Row:
    chosen = settings.load_settings(house.home)[0]
    story = house.session().starts()
    for turn in range(max(tools // TURN, 1)):
        _turn(story, turn)
        if stops:
            house.works()
            ModelPass(house.home, chosen, house.store).run()
    story.ends()
    house.works()
    ModelPass(house.home, chosen, house.store).run()
    house.works()
    asked = [request.body for request in model.requests]
    sent = sum(
        token_estimate(
            *(message["content"] for message in body["messages"]), json.dumps(body["response_format"])
        )
        for body in asked
    )
    stored = house.store.memories.of_session(story.id)
    said = sum(memory.tier is Tier.MODEL for memory in stored)
    captured = sum(event.payload_size for event in house.stored(story))
    return Row(tools, claims, stops, len(asked), sent, captured, said, len(stored))


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


def _answer(log: str, claims: int) -> str:
    """Claims about the first turns of the log, each with its evidence, in words of their own."""
    lines = [(number, line) for number, line in enumerate(log.splitlines()[1:], 1) if "user: Step" in line]
    made = [
        {
            "kind": "fact",
            "text": f"Amounts of {line.split('make ')[1].split()[0]} are rounded half even",
            "reason": "floats lose the third digit",
            "events": [number],
        }
        for number, line in lines[:claims]
    ]
    return json.dumps({"memories": made})


if __name__ == "__main__":
    sys.exit(main())
