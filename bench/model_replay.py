"""What a model adds to the next start, by answers that were recorded: no model is needed to score them.

    python -m bench.model_replay [-v]
    python -m bench.model_replay --ask http://localhost:11434/v1 qwen3:8b    # a real model answers, recorded

Each file of bench/model_cases names a session of our own (hook payloads), the facts that the next session
needs (each a list of words, all of which one row of its brief must have), the recorded answer, and who wrote
that: a model's name, or "hand". What a hand wrote shows that the machinery works, not how good a model is.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demo"))

from scripted_model import scripted_model  # type: ignore[import-not-found]  # lies in demo/
from tests.story import House

from backstory import settings
from backstory.llm.lenient_json import read_object
from backstory.llm.model_provider import Question, Reply
from backstory.llm.openai import OpenAI
from backstory.model_pass import ModelPass

ROOT = Path(__file__).resolve().parents[1]
CASES = Path(__file__).parent / "model_cases"
Case = dict[str, Any]


class Told(NamedTuple):
    """What the next session is told, by rules alone or with an answer, and what that took."""

    rows: list[str]
    tokens_in: int = 0
    tokens_out: int = 0

    def facts(self, case: Case) -> list[list[str]]:
        """The facts that one of the rows has."""
        lower = [row.lower() for row in self.rows]
        return [fact for fact in case["facts"] if any(all(w.lower() in row for w in fact) for row in lower)]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ask", nargs=2, metavar=("URL", "MODEL"), help="record what a real model answers")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell what was missed, and the rows")
    wanted = parser.parse_args(argv)
    print("case                 facts by rules   with answer  rows by rules  with  tokens in  out  answer by")
    for file in sorted(CASES.glob("*.json")):
        case: Case = json.loads(file.read_text("utf-8"))
        if wanted.ask:
            record(file, case, *wanted.ask)
        plain = next_start(case, "")
        with scripted_model(ROOT / case["answer"]) as (url, _):
            better = next_start(case, url)
        of = len(case["facts"])
        print(
            f"{file.stem:<20}{len(plain.facts(case)):>10} of {of:<6}{len(better.facts(case)):>6} of {of:<6}"
            f"{len(plain.rows):>9}{len(better.rows):>10}{better.tokens_in:>11,}{better.tokens_out:>5}"
            f"  {case['by']}"
        )
        if wanted.verbose:
            print(
                *(f"  missed: {fact}" for fact in case["facts"] if fact not in better.facts(case)), sep="\n"
            )
            print(*(f"  {row}" for row in better.rows), sep="\n")
    return 0


def next_start(case: Case, url: str, model: str = "recorded") -> Told:
    """The rows of the brief after the case's session, read by the model at this address, if any."""
    with tempfile.TemporaryDirectory(prefix="backstory-model-") as folder:
        project = Path(folder, "shop")
        project.mkdir()
        subprocess.run(["git", "init", "--quiet", "-b", "main", str(project)], check=True)
        house = House(Path(folder, "home"), project)
        house.home.root.mkdir(mode=0o700)
        for key, value in {"url": url, "distil": model, "provider": "openai" if url else "off"}.items():
            house.sets(f"model.{key}", value)
        try:
            story = house.session().starts()
            recording = (ROOT / case["session"]).read_text("utf-8").replace("{cwd}", str(project))
            for event in json.loads(recording)["events"]:
                if event["event"] != "SessionStart":
                    story.sends(event["event"], **event["payload"])
            story.ends()
            house.works()
            ModelPass(house.home, settings.load_settings(house.home)[0], house.store).run()
            house.works()
            calls = house.store.ledger.latest(100)
            rows = [row for row in house.brief().text.splitlines() if row.startswith("- ")]
            return Told(rows, sum(c.tokens_in for c in calls), sum(c.tokens_out for c in calls))
        finally:
            house.close()


def record(file: Path, case: Case, url: str, model: str) -> None:
    """Have a real model answer, and keep that beside the case."""
    answers: list[str] = []
    asks = OpenAI.ask

    def listens(self: OpenAI, question: Question) -> Reply:
        reply = asks(self, question)
        answers.append(reply.text)
        return reply

    OpenAI.ask = listens  # type: ignore[method-assign]
    try:
        next_start(case, url, model)
    finally:
        OpenAI.ask = asks  # type: ignore[method-assign]
    if not answers:
        raise SystemExit(f"{url} gave no answer")
    own = file.with_suffix(".answer")
    own.write_text(json.dumps(read_object(answers[-1]), indent=1, ensure_ascii=False) + "\n", "utf-8")
    case |= {"answer": str(own.relative_to(ROOT)), "by": model}
    file.write_text(json.dumps(case, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
