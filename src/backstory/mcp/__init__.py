"""The memory as an MCP server.

One is started per agent session, so it starts light: the standard library until something is asked of it, and
no database open between two calls.

- `handshake`    the first words, before anything else is imported
- `stdio`        the loop: a line in, a line out
- `json_rpc`     JSON-RPC and MCP, whatever carries them: both handshakes and the stateless revision
- `tool_schemas` what an agent may ask, as a table
- `tool_calls`   answering, through the app
- `slow_calls`   in time: what takes longer goes on, and is told when asked again
- `forget_tool`  the tool that removes for good: told first, confirmed then
- `resources`    briefs and sessions as documents
- `roots`        which folder the client works in
"""
