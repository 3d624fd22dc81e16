"""Claude Code, the real one, from the first prompt to the next session's first request.

- `claude`  the driver: headless runs, runs to be killed, a pseudo-terminal
- `story`   pieces of work that scenarios share
"""
