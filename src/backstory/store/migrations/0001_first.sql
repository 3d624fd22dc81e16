-- The first schema. Never edited once it was on main: changes are new numbered files.
-- Ids are made by the client from what they stand for, so the same thing always gets the same id.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE projects (
    id         TEXT PRIMARY KEY,
    identity   TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    root       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) WITHOUT ROWID;

-- Folders in which a project was seen, so that a deleted one is still recognised.
CREATE TABLE places (
    path       TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects(id),
    seen_at    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
    id            TEXT PRIMARY KEY,
    agent         TEXT NOT NULL,
    native_id     TEXT NOT NULL,
    project_id    TEXT NOT NULL REFERENCES projects(id),
    parent_id     TEXT NOT NULL DEFAULT '',
    subagent_type TEXT NOT NULL DEFAULT '',
    source        TEXT NOT NULL DEFAULT '',
    cwd           TEXT NOT NULL DEFAULT '',
    branch        TEXT NOT NULL DEFAULT '',
    transcript    TEXT NOT NULL DEFAULT '',
    title         TEXT NOT NULL DEFAULT '',
    started_at    INTEGER NOT NULL,
    last_at       INTEGER NOT NULL,
    ended_at      INTEGER,
    end_reason    TEXT NOT NULL DEFAULT '',
    status        TEXT NOT NULL DEFAULT 'active',
    prompt_count  INTEGER NOT NULL DEFAULT 0,
    event_count   INTEGER NOT NULL DEFAULT 0,
    UNIQUE (agent, native_id)
) WITHOUT ROWID;
CREATE INDEX sessions_by_project ON sessions (project_id, last_at);
CREATE INDEX sessions_by_parent ON sessions (parent_id) WHERE parent_id <> '';

CREATE TABLE turns (
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    prompt_id  TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    outcome    TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (session_id, number)
) WITHOUT ROWID;

CREATE TABLE events (
    row          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    session_id   TEXT NOT NULL REFERENCES sessions(id),
    turn         INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    kind         TEXT NOT NULL,
    action       TEXT NOT NULL,
    tool         TEXT NOT NULL,
    target       TEXT NOT NULL,
    outcome      TEXT NOT NULL,
    reason       TEXT NOT NULL,
    text         TEXT NOT NULL,
    native_id    TEXT NOT NULL,
    cwd          TEXT NOT NULL,
    branch       TEXT NOT NULL,
    commit_id    TEXT NOT NULL,
    worktree     TEXT NOT NULL,
    dirty        INTEGER,
    recalled     INTEGER NOT NULL,
    origin       TEXT NOT NULL,
    payload_size INTEGER NOT NULL
);
CREATE INDEX events_by_session ON events (session_id, at, seq);
CREATE INDEX events_by_time ON events (at);

-- What the agent sent, whole and redacted; the event says how large it is.
CREATE TABLE payloads (
    event_row INTEGER PRIMARY KEY REFERENCES events(row) ON DELETE CASCADE,
    body      BLOB NOT NULL
);

-- How many equal things without an id of their own a session has had, by where they came from.
CREATE TABLE ordinals (
    base   TEXT NOT NULL,
    origin TEXT NOT NULL,
    n      INTEGER NOT NULL,
    PRIMARY KEY (base, origin)
) WITHOUT ROWID;

-- Spool files whose events are stored and that may still lie there.
CREATE TABLE receipts (
    name     TEXT NOT NULL,
    inode    INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    PRIMARY KEY (name, inode, mtime_ns)
) WITHOUT ROWID;

-- How far each transcript has been read.
CREATE TABLE transcripts (
    path       TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    offset     INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    read_at    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE memories (
    id         TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects(id),
    session_id TEXT NOT NULL REFERENCES sessions(id),
    agent      TEXT NOT NULL,
    kind       TEXT NOT NULL,
    tier       TEXT NOT NULL,
    status     TEXT NOT NULL,
    scope      TEXT NOT NULL,
    text       TEXT NOT NULL,
    detail     TEXT NOT NULL,
    reason     TEXT NOT NULL,
    files      TEXT NOT NULL,
    said_by    TEXT NOT NULL,
    at         INTEGER NOT NULL,
    weight     REAL NOT NULL,
    pinned     INTEGER NOT NULL DEFAULT 0,
    turn       INTEGER NOT NULL,
    auto       INTEGER NOT NULL,
    made_by    TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX memories_by_project ON memories (project_id, kind, at);
CREATE INDEX memories_by_session ON memories (session_id);

CREATE TABLE memory_sources (
    memory_id TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
    event_id  TEXT NOT NULL,
    PRIMARY KEY (memory_id, event_id)
) WITHOUT ROWID;
CREATE INDEX memory_sources_by_event ON memory_sources (event_id);

CREATE TABLE jobs (
    kind       TEXT NOT NULL,
    subject    TEXT NOT NULL,
    state      TEXT NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER NOT NULL DEFAULT 0,
    leased_to  INTEGER NOT NULL DEFAULT 0,
    last_error TEXT NOT NULL DEFAULT '',
    asked_at   INTEGER NOT NULL,
    done_at    INTEGER,
    PRIMARY KEY (kind, subject)
) WITHOUT ROWID;
CREATE INDEX jobs_by_age ON jobs (state, kind, asked_at);

CREATE TABLE counters (
    day   TEXT NOT NULL,
    agent TEXT NOT NULL,
    event TEXT NOT NULL,
    name  TEXT NOT NULL,
    n     INTEGER NOT NULL,
    PRIMARY KEY (day, agent, event, name)
) WITHOUT ROWID;

CREATE TABLE tombstones (
    id     TEXT PRIMARY KEY,
    what   TEXT NOT NULL,
    reason TEXT NOT NULL,
    at     INTEGER NOT NULL
) WITHOUT ROWID;

-- What was given to which session: receipts of briefs. A session may be unknown as yet, or never be stored.
CREATE TABLE injections (
    id         TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    at         INTEGER NOT NULL,
    source     TEXT NOT NULL,
    chars      INTEGER NOT NULL,
    tokens     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX injections_by_session ON injections (session_id, at);

CREATE TABLE injected (
    injection_id TEXT NOT NULL REFERENCES injections(id) ON DELETE CASCADE,
    memory_id    TEXT NOT NULL,
    PRIMARY KEY (injection_id, memory_id)
) WITHOUT ROWID;

-- Pieces of about a thousand characters that search looks through; `scope` makes the project a term.
CREATE TABLE passages (
    row        INTEGER PRIMARY KEY,
    owner      TEXT NOT NULL,
    part       INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    kind       TEXT NOT NULL,
    at         INTEGER NOT NULL,
    scope      TEXT NOT NULL,
    text       TEXT NOT NULL
);
CREATE INDEX passages_by_owner ON passages (owner);

CREATE VIRTUAL TABLE passage_fts USING fts5 (
    text, scope, content = 'passages', content_rowid = 'row', tokenize = 'porter unicode61'
);
