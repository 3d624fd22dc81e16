"""Projects, and the folders that belonged to them, also when a folder is gone."""

import sqlite3

from backstory.model import Project


class Projects:
    """Writes and reads the projects of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def note(self, project: Project) -> None:
        """Remember a project, when it was seen last and in which folder."""
        self._db.execute(
            """
            INSERT INTO projects (id, identity, name, root, created_at, seen_at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET
                seen_at = max(seen_at, excluded.seen_at),
                root = excluded.root,
                identity = excluded.identity,
                name = iif(identity = excluded.identity, name, excluded.name)  -- lost, and repaired
            """,
            (project.id, project.identity, project.name, project.root, project.seen_at, project.seen_at),
        )

    def note_place(self, path: str, project_id: str, at: int) -> None:
        """Remember that `path` belonged to a project, for when the folder is gone."""
        self._db.execute(
            """
            INSERT INTO places (path, project_id, seen_at) VALUES (?, ?, ?)
            ON CONFLICT (path) DO UPDATE SET project_id = excluded.project_id, seen_at = excluded.seen_at
            """,
            (path, project_id, at),
        )

    def get(self, project_id: str) -> Project | None:
        """One project by its id."""
        row = self._db.execute(
            "SELECT id, identity, name, root, seen_at FROM projects WHERE id = ?", (project_id,)
        ).fetchone()
        return None if row is None else Project(*row)

    def all(self) -> list[Project]:
        """All projects, the latest seen first."""
        rows = self._db.execute(
            "SELECT id, identity, name, root, seen_at FROM projects ORDER BY seen_at DESC"
        )
        return [Project(*row) for row in rows]

    def places_of(self, project_id: str) -> list[str]:
        """The folders that a project's sessions ran in, the latest first."""
        rows = self._db.execute(
            "SELECT path FROM places WHERE project_id = ? ORDER BY seen_at DESC LIMIT 100", (project_id,)
        )
        return [path for (path,) in rows]

    def places(self) -> list[tuple[str, str]]:
        """All folders that sessions ran in, each with the id of its project."""
        rows = self._db.execute("SELECT path, project_id FROM places ORDER BY path")
        return [(path, project_id) for path, project_id in rows]

    def folders(self) -> list[str]:
        """All folders that projects were seen in."""
        rows = self._db.execute("SELECT root FROM projects UNION SELECT path FROM places")
        return [path for (path,) in rows]

    def commits_of(self, project_id: str, limit: int) -> list[str]:
        """The commits that a project's own folders were at when sessions worked there, the latest first."""
        rows = self._db.execute(
            """
            SELECT e.commit_id FROM sessions AS s JOIN events AS e ON e.session_id = s.id
            WHERE s.project_id = :project AND e.commit_id <> ''
                AND e.cwd IN (SELECT path FROM places WHERE project_id = :project)
            GROUP BY e.commit_id ORDER BY max(e.at) DESC LIMIT :limit
            """,
            {"project": project_id, "limit": limit},
        )
        return [commit for (commit,) in rows]

    def of_place(self, path: str) -> Project | None:
        """The project that a folder belonged to when it was last seen, by the nearest known parent."""
        row = self._db.execute(
            """
            SELECT project_id FROM places
            WHERE path = ? OR substr(?, 1, length(path) + 1) = path || '/'
            ORDER BY length(path) DESC LIMIT 1
            """,
            (path, path),
        ).fetchone()
        return None if row is None else self.get(row[0])
