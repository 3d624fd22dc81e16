"""`backstory mcp`: the memory as an MCP server on stdin and stdout."""

import click


@click.command()
def mcp() -> None:
    """Serve the memory to an agent, as an MCP server.

    It speaks on stdin and stdout. Agents start it themselves: `backstory install` registers it with those
    that speak MCP. It answers search, timeline, get, remember, forget and status for the project that the
    agent works in.
    """
    from backstory.mcp.handshake import main

    raise SystemExit(main())
