"""Counters of what capture did, by day, agent and event."""

import sqlite3
from collections.abc import Mapping


class Counters:
    """The counters of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def add(self, day: str, counts: Mapping[tuple[str, str, str], int]) -> None:
        """Add to the day's counters; keys are (agent, event, name)."""
        self._db.executemany(
            """
            INSERT INTO counters (day, agent, event, name, n) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (day, agent, event, name) DO UPDATE SET n = n + excluded.n
            """,
            [(day, agent, event, name, n) for (agent, event, name), n in counts.items()],
        )

    def since(self, since_day: str = "") -> list[tuple[str, str, str, str, int]]:
        """All counters from a day on: (day, agent, event, name, n)."""
        return self._db.execute(
            "SELECT day, agent, event, name, n FROM counters WHERE day >= ? ORDER BY day, agent, event, name",
            (since_day,),
        ).fetchall()

    def by_agent(self, name: str, since_day: str) -> dict[str, int]:
        """One counter from a day on, for each agent."""
        rows = self._db.execute(
            "SELECT agent, sum(n) FROM counters WHERE day >= ? AND name = ? GROUP BY agent", (since_day, name)
        )
        return dict(rows.fetchall())

    def total(self, name: str, but: str | None = None) -> int:
        """The sum of one counter over all days, agents and events; one event may be left out."""
        query = "SELECT coalesce(sum(n), 0) FROM counters WHERE name = ? AND event IS NOT ?"
        return int(self._db.execute(query, (name, but)).fetchone()[0])
