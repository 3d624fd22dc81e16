"""The capture hook under load: bad input, large input, many at once."""

import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from backstory.hook import spool

from .stage import PAYLOAD, Agent


@pytest.mark.parametrize("data", [b"", b"not json", b'{"cut', b"\xff\xfe\x00", b"[1]", b"\x1e"], ids=repr)
@pytest.mark.parametrize("event", ["PostToolUse", "SessionStart"])
def test_input_of_any_kind_is_kept_as_it_is(agent: Agent, data: bytes, event: str) -> None:
    # MEMORIA-28
    done = agent.run(event, data)
    assert (done.returncode, done.stdout) == (0, b"")
    assert agent.payloads() == [data]


def test_fifty_megabytes_take_less_than_a_second(agent: Agent, tmp_path: Path) -> None:
    # CM-2, CCE-24: nor does the size of the transcript matter
    transcript = tmp_path / "transcript.jsonl"
    with transcript.open("wb") as file:
        file.truncate(50_000_000)
    small = json.dumps({"session_id": "s", "cwd": "/", "transcript_path": str(transcript)}).encode()
    for data in (small, b'{"x":"' + b"y" * 50_000_000 + b'"}'):
        times = []
        for _ in range(3):
            start = time.monotonic()
            agent.run("PostToolUse", data)
            times.append(time.monotonic() - start)
        assert min(times) < 1
    assert {len(data) for data in agent.payloads()} == {len(small), 50_000_008}


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_a_hook_opens_no_socket_and_a_capture_starts_one_process(agent: Agent) -> None:
    # CM-2
    for event, programs in (("PostToolUse", 2), ("SessionStart", 9)):
        trace = agent.home / "trace"
        argv = ["strace", "-f", "-qq", "-e", "trace=network,execve", "-o", str(trace)]
        done = subprocess.run(
            [*argv, "/bin/sh", "-c", agent.command(event)], input=PAYLOAD, capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip("strace may not trace here")
        lines = trace.read_text().splitlines()
        assert not [line for line in lines if "socket(" in line or "connect(" in line]
        assert len([line for line in lines if "execve(" in line and " = 0" in line]) <= programs


@pytest.mark.faults
def test_eight_writers_some_of_them_killed_lose_and_double_nothing(agent: Agent) -> None:
    # MEMORIA-31: writers, a reader that takes what is finished, and kills, all at once
    chance = random.Random(5)
    sizes = [600, 4_000, 70_000, 400_000]
    jobs = [(number, chance.choice(sizes), chance.random() < 0.1) for number in range(320)]
    returned: set[int] = set()
    found: list[int] = []
    bad: list[bytes] = []
    writing = threading.Event()
    guard = threading.Lock()

    def write() -> None:
        while True:
            with guard:
                if not jobs:
                    return
                number, size, killed = jobs.pop()
            data = json.dumps({"n": number, "pad": "p" * size}).encode()
            hook = subprocess.Popen(
                ["/bin/sh", "-c", agent.command("PostToolUse")], stdin=subprocess.PIPE, start_new_session=True
            )
            assert hook.stdin is not None
            half = len(data) // 2 if killed else len(data)
            try:
                hook.stdin.write(data[:half])
                if killed:
                    hook.stdin.flush()
                    time.sleep(0.003)
                    os.killpg(hook.pid, signal.SIGKILL)
                hook.stdin.close()
            except BrokenPipeError:
                pass
            if hook.wait() == 0:
                returned.add(number)

    def drain() -> None:
        for entry in spool.spool_entries(str(agent.home / "spool")):
            data = spool.read_spooled(entry.path)
            if data is not None:
                try:
                    found.append(json.loads(data)["n"])
                except ValueError:
                    bad.append(data)
                os.unlink(entry.path)

    writers = [threading.Thread(target=write) for _ in range(8)]

    def keep_draining() -> None:
        while not writing.is_set():
            drain()
            time.sleep(0.005)

    reader = threading.Thread(target=keep_draining)
    for thread in (*writers, reader):
        thread.start()
    for thread in writers:
        thread.join()
    writing.set()
    reader.join()
    drain()
    assert returned
    assert len(found) == len(set(found))
    assert returned <= set(found)
    assert bad == []
