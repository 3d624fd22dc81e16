"""The scripted model: it speaks a vendor's protocol and says what the test wrote.

- `script`     what to answer: rules and inline directives, independent of any protocol
- `anthropic`  the Anthropic Messages protocol; others become modules beside it with the same four names
  (`PATHS`, `conversation`, `injections`, `reply`)
- `chat`       the OpenAI Chat Completions protocol: opencode, pi, Copilot, Qwen Code
- `gemini`     the Gemini protocol: Gemini CLI
- `faults`     what goes wrong on the way: errors, silence, drops, half an answer, nonsense
- `server`     serves them, and keeps every request for the test to look at
"""

from .faults import Cut, Drip, Fault, Hang, Raw, Status, refusal
from .script import Edit, Read, Say, Script, Shell, Step, Task, Tool, Wait, Write
from .server import Model, Request

__all__ = [
    "Cut", "Drip", "Edit", "Fault", "Hang", "Model", "Raw", "Read", "Request", "Say", "Script", "Shell",
    "Status", "Step", "Task", "Tool", "Wait", "Write", "refusal",
]  # fmt: skip
