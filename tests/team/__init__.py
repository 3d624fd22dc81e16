"""The team's server, on a real PostgreSQL that the tests start themselves."""
