"""`python -m backstory.mcp`: what agents are told to start."""

import sys

from backstory.mcp.stdio import serve

if __name__ == "__main__":
    sys.exit(serve())
