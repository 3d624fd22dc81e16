"""All seven, by the names that `backstory` has for them."""

from __future__ import annotations

from .claude_code.claude import Claude
from .codex.driver import Codex
from .copilot.driver import Copilot
from .gemini_cli.driver import Gemini
from .headless import Headless
from .opencode.driver import Opencode
from .pi.driver import Pi
from .qwen_code.driver import Qwen

DRIVERS: dict[str, type[Headless]] = {
    driver.name: driver for driver in (Claude, Codex, Opencode, Gemini, Copilot, Pi, Qwen)
}
