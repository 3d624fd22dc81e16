"""The server's first words: the same as the server's own, said before it is loaded."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from backstory.capture.hook_bundle import MCP_SCRIPT, hook_files_current, write_hook_files
from backstory.capture.mcp_registration import server_launch
from backstory.mcp.handshake import Handshake, NotMine
from backstory.mcp.json_rpc import Conversation
from tests.mcp.server import Server
from tests.story import House

INITIALIZE = (
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"%s","capabilities":%s}}'
)
INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
FOLDERS = '{"jsonrpc":"2.0","id":"backstory-roots-1","result":{"roots":[{"uri":"file:///srv/shop"}]}}'
TOOLS = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
PING = '{"jsonrpc":"2.0","id":4,"method":"ping"}'
LINES = [
    *(INITIALIZED, FOLDERS, TOOLS, PING),
    *(INITIALIZE % (version, able) for version in ("2024-11-05", "2025-11-25", "2026-07-28", "x")
      for able in ("{}", '{"roots":{"listChanged":true}}', '{"elicitation":{},"roots":{}}')),
    INITIALIZE % ("2025-06-18", "[]"),
    '{"jsonrpc":"2.0","id":"é\\ud83d\\u2028\\"","method":"initialize"}',
    '{"method":"notifications/initialized","params":{}}',
    '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
    '{"jsonrpc":"2.0","id":"backstory-roots-1","error":{"code":-32601,"message":"no"}}',
    '{"jsonrpc":"2.0","id":"backstory-roots-1"}',
    '{"jsonrpc":"2.0","id":"backstory-roots-2","result":{"roots":[]}}',
    *(f'{{"jsonrpc":"2.0","id":{id_},"method":"tools/list"}}'
      for id_ in ("1", '"a"', "-5", "1.5", "1e999", "true", "null", "[1]", "9" * 5_000)),
    '  {"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"x"}} \r',
    '{"jsonrpc":"2.0","id":5,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}',
    '{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"_meta":{"progressToken":1}}}',
    '{"jsonrpc":"2.0","id":7,"method":"resources/templates/list"}',
    '{"jsonrpc":"2.0","id":8,"method":"server/discover"}',
    '{"id":9,"method":"tools/list","params":[NaN]}',
    '{"id":10,"method":"tools/list"}}', '{"id":11,"method":', "[]", "3", "nonsense", "\x0c{}", "\ufeff{}",
    '[{"jsonrpc":"2.0","id":12,"method":"ping"}]', '{"id":13,"method":"no/such"}', '{"id":14,"method":7}',
    '{"id":"backstory-roots-1","method":5,"result":{}}', '{"id":15,"method":"ping","a":"\t"}', '{"id":16}',
]  # fmt: skip


def test_every_answer_is_the_servers_own_and_after_it_takes_over_too() -> None:
    chance = random.Random(3)
    said = taken_over = 0
    for _ in range(3_000):
        first, own = Handshake(), Conversation("/srv")
        for number, text in enumerate(chance.choices(LINES, k=12)):
            line = text.encode()
            wanted = own.hear(line)
            try:
                answer = first.hear(line)
            except NotMine:
                later = Conversation("/srv")
                for heard in first.heard:
                    later.hear(heard)
                assert later.hear(line) == wanted
                assert vars(later) == vars(own)
                taken_over += 1
                break
            assert [answer] * bool(answer) == wanted, (number, text)
            said += bool(answer)
    assert said > 2_000
    assert taken_over > 1_000


def test_what_a_client_sends_at_every_start_needs_nothing_else() -> None:
    """Nor do pings grow what is kept of it."""
    first = Handshake()
    for line in (INITIALIZE % ("2025-06-18", '{"roots":{}}'), INITIALIZED, FOLDERS, TOOLS, *[PING] * 50):
        first.hear(line.encode())
    assert len(first.heard) == 3


def test_for_its_first_words_it_loads_next_to_nothing(house: House) -> None:
    house.installs()
    script = house.home.hook / MCP_SCRIPT
    tell = "import sys; told = lambda _=0: sys.stderr.write('\\n'.join(sys.modules)); "
    run = f"sys.exit = told; exec(open({str(script)!r}).read())"
    lines = "\n".join([INITIALIZE % ("2025-06-18", '{"roots":{}}'), INITIALIZED, TOOLS, ""])
    bare, done = (
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", tell + what], input=lines, capture_output=True, text=True
        )
        for what in ("told()", run)
    )
    assert [json.loads(line).get("id") for line in done.stdout.splitlines()] == [0, "backstory-roots-1", 1]
    loaded = set(done.stderr.split()) - set(bare.stderr.split())
    assert {name for name in loaded if not name.startswith("backstory")} <= {"_json"}
    assert "backstory.mcp.json_rpc" not in loaded


def test_it_starts_though_the_package_lies_elsewhere_by_now(house: House, project: Path) -> None:
    house.installs()
    script = house.home.hook / MCP_SCRIPT
    script.write_text(script.read_text().replace("sys.path[:0] = ['", "sys.path[:0] = ['/nowhere"))
    assert "/nowhere" in script.read_text()
    server = Server(house.home.root, project)
    assert server.ask("tools/list")["result"]["tools"]
    assert "0 sessions" in server.call("status")
    assert server.ends() == (0, "")


@pytest.mark.parametrize("damage", ["", "import nonsense\n"])
def test_every_worker_brings_the_script_up_to_date(house: House, damage: str) -> None:
    house.installs()
    script = house.home.hook / MCP_SCRIPT
    script.write_text(damage)
    assert not hook_files_current(house.home.root)
    assert write_hook_files(house.home.root)
    assert "handshake" in script.read_text()
    assert script.stat().st_mode & 0o777 == 0o600


def test_lines_that_come_in_pieces_or_together_are_answered_once_each(server: Server) -> None:
    text = (INITIALIZE % ("2025-06-18", "{}") + '\n\n{"id":1,"method":"tools/list"}\n'
            '{"id":2,"method":"resources/list"}\n{"id":3,"method":"ping"}\n').encode()  # fmt: skip
    assert server.process.stdin is not None
    for at in range(0, len(text), 50):
        server.process.stdin.write(text[at : at + 50])
        server.process.stdin.flush()
    assert [server.hears()["id"] for _ in range(4)] == [0, 1, 2, 3]
    assert server.ends() == (0, "")


def test_it_starts_though_the_home_was_deleted(house: House, project: Path) -> None:
    house.installs()
    launch = server_launch(house.home)
    shutil.rmtree(house.home.root)
    done = subprocess.run(
        [launch.program, *launch.arguments],
        input=(INITIALIZE % ("2025-06-18", "{}")) + "\n" + TOOLS + "\n",
        env={"PATH": os.environ["PATH"], **launch.environment},
        cwd=project,
        capture_output=True,
        text=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert any(answer.get("result", {}).get("tools") for answer in answers), done.stderr
    assert done.returncode == 0
