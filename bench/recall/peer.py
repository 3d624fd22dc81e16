"""MemPalace's own product beside ours: its command mines the sessions, its search is asked.

It is no dependency: `--mempalace PYTHON` names the interpreter of an environment that has it, and this file
is run by that interpreter too, so that its lower half imports nothing of ours. It needs its embedding model
(all-MiniLM-L6-v2), which it downloads once to `~/.cache/chroma`.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

DEEP = 50


class Absent(Exception):
    """MemPalace cannot be asked; the message says why."""


@contextmanager
def palace(python: str, case: Any) -> Iterator[tuple[Callable[[str], list[str]], int]]:
    """A palace that holds a case's sessions: what answers a question with them, best first, and its size."""
    with TemporaryDirectory(prefix="backstory-palace-") as folder:
        mined = Path(folder) / "talk"
        mined.mkdir()
        for number, session in enumerate(case.sessions):
            # its own form for talks: what was asked is quoted, and the reply follows
            text = "\n".join(f"\n> {turn.text}" if turn.asked else turn.text for turn in session.turns)
            (mined / f"s{number}.txt").write_text(text.strip() + "\n", "utf-8")
        command = [python, __file__, str(mined), f"{folder}/palace"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdin
            assert child.stdout
            found_in, found_out = child.stdin, child.stdout

            def ask(question: str) -> list[str]:
                found_in.write(json.dumps(question) + "\n")
                found_in.flush()
                answer = json.loads(found_out.readline() or "null")
                if answer is None:
                    raise Absent("it died over a question")
                return [case.sessions[int(name[1:-4])].id for name in answer]

            if found_out.readline().strip() != "ready":
                child.kill()
                raise Absent(f"{python} could not mine: is mempalace installed there, and its model?")
            size = sum(file.stat().st_size for file in Path(folder, "palace").rglob("*") if file.is_file())
            try:
                yield ask, size
            finally:
                child.stdin.close()


def _serve(mined: str, place: str) -> None:
    """Mine a folder, then answer questions, one a line, with the names of files."""
    command = [sys.executable, "-m", "mempalace", "--palace", place, "mine", mined, "--mode", "convos"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2_000:])
    from mempalace.searcher import search_memories  # type: ignore[import-not-found]

    print("ready", flush=True)
    for line in sys.stdin:
        hits = search_memories(json.loads(line), place, n_results=DEEP).get("results", [])
        print(json.dumps(list(dict.fromkeys(Path(hit["source_file"]).name for hit in hits))), flush=True)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
