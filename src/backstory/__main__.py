"""The command `backstory`, also as `python -m backstory`."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; an MCP server, which every agent session starts, goes past it."""
    if sys.argv[1:] == ["mcp"]:
        from backstory.mcp.handshake import main as serve

        sys.exit(serve())
    from backstory.cli import main as run

    run()


if __name__ == "__main__":
    main()
