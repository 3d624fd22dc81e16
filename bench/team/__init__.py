"""How fast a team's server is: `python -m bench.team.run`."""
