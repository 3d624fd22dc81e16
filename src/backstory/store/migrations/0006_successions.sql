-- Which newer decision took the place of an older one. Derived: made again from the decisions themselves.
CREATE TABLE successions (
    older TEXT PRIMARY KEY REFERENCES memories(id) ON DELETE CASCADE,
    newer TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX successions_by_newer ON successions (newer);
