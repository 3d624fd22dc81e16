"""`python -m backstory.mcp`: the server, for who starts it by its name."""

import sys

from backstory.mcp.handshake import main

if __name__ == "__main__":
    sys.exit(main())
