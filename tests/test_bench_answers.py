"""A model whose answers were recorded: what is not answered is written down, what is answered counts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from bench.work.answers import Answers, recorded

ROOT = Path(__file__).parents[1]
_FOLDER = "/home/user/shop"
_SENTENCE = "The till tests need TILL_PORT=4711, or they hang."


def _ask(answers: Answers, text: str) -> dict[str, Any]:
    messages = [{"role": "system", "content": "Keep it."}, {"role": "user", "content": text}]
    body = json.dumps({"messages": messages}).encode()
    with urlopen(Request(f"{answers.url}/chat/completions", body)) as reply:
        found: dict[str, Any] = json.load(reply)
    return found


def test_a_question_without_an_answer_is_written_down_and_refused(tmp_path: Path) -> None:
    with recorded(tmp_path / "answers", tmp_path / "scratch") as answers:
        with pytest.raises(HTTPError, match="404"):
            _ask(answers, f"What is in {tmp_path}/scratch/w0?")
        (question,) = (tmp_path / "answers").glob("*.question")
        assert question.read_text() == "Keep it.\n\nWhat is in /scratch/w0?"
        assert answers.missing == [question.stem]


def test_a_recorded_answer_is_given_whatever_the_scratch_folder_is_called(tmp_path: Path) -> None:
    with recorded(tmp_path, Path("/tmp/one")) as answers, pytest.raises(HTTPError):
        _ask(answers, "What is in /tmp/one/w0?")
    (question,) = tmp_path.glob("*.question")
    question.with_suffix(".answer").write_text('{"operations": []}')
    with recorded(tmp_path, Path("/tmp/two")) as answers:
        reply = _ask(answers, "What is in /tmp/two/w0?")
        assert reply["choices"][0]["message"]["content"] == '{"operations": []}'
        assert reply["usage"]["prompt_tokens"] > 0
        assert answers.missing == []
        assert len(answers.tokens) == 1


def _line(number: int, kind: str, session: str, content: Any) -> str:
    row = {
        "type": kind, "uuid": f"{session}-{number}", "sessionId": session, "cwd": _FOLDER, "version": "2.0.0",
        "timestamp": f"2026-11-01T10:{number:02}:00.000Z", "message": {"role": kind, "content": content},
    }  # fmt: skip
    return json.dumps(row)


def _transcript(session: str) -> str:
    prompts = ["Mend the till's tests.", "And run them again, please.", "Do they pass on the other machine?"]
    said = [
        "I look at how the till is started, because its tests hang when nobody listens at the port that they "
        "ask; the fixture reads TILL_PORT and waits for ever without it. " * 3,
        "They pass now with TILL_PORT=4711, because the fixture then finds its server. " * 3,
        "Yes: with TILL_PORT=4711 they pass there too. Nothing else was needed. " * 3,
    ]
    lines = []
    for number, (prompt, answer) in enumerate(zip(prompts, said, strict=True)):
        lines.append(_line(2 * number, "user", session, prompt))
        lines.append(_line(2 * number + 1, "assistant", session, [{"type": "text", "text": answer}]))
    return "\n".join(lines) + "\n"


def _run(data: Path, answers: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench.work.run", "shop", "--data", str(data), "--parts", "brief"]
    return subprocess.run(
        [*command, "--answers", str(answers)], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_each_session_is_read_before_the_next_one_starts(tmp_path: Path) -> None:
    data, answers = tmp_path / "data", tmp_path / "answers"
    (data / "shop").mkdir(parents=True)
    sessions = [f"0000000{n}-0000-4000-8000-000000000000" for n in (1, 2)]
    for session in sessions:
        (data / "shop" / f"{session}.jsonl").write_text(_transcript(session))
    fact = {
        "id": "f1",
        "session": sessions[0],
        "fact": "TILL_PORT",
        "keys": [["till_port=4711, or they hang"]],
    }
    gold = {
        "project": "shop",
        "sessions": [{"id": each, "file": f"{each}.jsonl", "cwd": _FOLDER} for each in sessions],
        "facts": [fact],
        "needs": {sessions[1]: [{"fact": "f1", "why": "line 4"}]},
    }
    (data / "shop" / "gold.json").write_text(json.dumps(gold))

    first = _run(data, answers)
    assert "answers missing: 1" in first.stderr
    (question,) = (answers / "shop").glob("*.question")
    assert "TILL_PORT" in question.read_text()
    assert "needs" not in first.stdout

    lesson = {
        "do": "add", "memories": [], "kind": "lesson", "text": _SENTENCE, "reason": "", "lines": [1, 2, 3],
    }  # fmt: skip
    came_of_it = {"goal": "Tests that end", "outcome": "They pass.", "lines": [2], "open": []}
    question.with_suffix(".answer").write_text(json.dumps({"session": came_of_it, "operations": [lesson]}))
    second = _run(data, answers)
    assert "shop: brief [ours] needs 1 of 1 (1.00)" in second.stdout, second.stderr
    assert "shop: 1 questions" in second.stdout
