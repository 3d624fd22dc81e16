"""The viewer's server, asked over real HTTP."""
