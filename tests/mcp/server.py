"""A server as agents start it: a real process on pipes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

Message = dict[str, Any]


class Server:
    """The process, and the conversation with it."""

    def __init__(self, home: Path, cwd: Path, **environment: str) -> None:
        script = home / "hook" / "backstory_mcp.py"
        start = ["-I", "-S", str(script)] if script.exists() else ["-I", "-m", "backstory.mcp"]
        self.process = subprocess.Popen(
            [sys.executable, *start],
            cwd=cwd,
            env={"PATH": os.environ["PATH"], "BACKSTORY_HOME": str(home), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._id = 0

    def send(self, line: bytes) -> None:
        """Write one line as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def hears(self) -> Message:
        """The next line that the server writes."""
        assert self.process.stdout is not None
        answer: Message = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, method: str, **params: Any) -> Message:
        """Send a request; the whole answer."""
        self._id += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}).encode())
        answer = self.hears()
        assert answer["id"] == self._id
        return answer

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool that works; its text."""
        text, failed = self._patiently(tool, arguments)
        assert not failed, text
        return text

    def fails(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must fail; what it says."""
        text, failed = self._patiently(tool, arguments)
        assert failed, text
        return text

    def says(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """Call a tool once; its text, and whether it failed."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        return result["content"][0]["text"], result["isError"]

    def _patiently(self, tool: str, arguments: Message) -> tuple[str, bool]:
        """As often as it says that it is not through yet: the machine may be slow."""
        while True:
            text, failed = self.says(tool, **arguments)
            if not (failed and "is not through yet" in text):
                return text, failed

    def ends(self) -> tuple[int, str]:
        """Close stdin; exit code and stderr."""
        _, said = self.process.communicate(timeout=10)
        return self.process.returncode, said.decode()
