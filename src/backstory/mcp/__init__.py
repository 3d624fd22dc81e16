"""The memory as an MCP server.

One is started per agent session, so it starts light: the standard library until something is asked of it, and
no database open between two calls.

- `stdio`      the loop: a line in, a line out
- `protocol`   JSON-RPC and MCP, whatever carries them: both handshakes and the stateless revision
- `tools`      what an agent may ask, as a table
- `calls`      answering, through the app
- `beside`     in time: what takes longer goes on, and is told when asked again
- `forgetting` the tool that removes for good: told first, confirmed then
- `resources`  briefs and sessions as documents
- `roots`      which folder the client works in
"""
