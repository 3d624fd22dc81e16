-- What other people, and one's own other machines, share. `author` is who says so, as people call them, "" for
-- what was learned here; `origin` is where it came from: "mine" (one's own other machine), "team", or "git"
-- (the repository's .backstory/shared).
ALTER TABLE memories ADD COLUMN author TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN author TEXT NOT NULL DEFAULT '';
CREATE INDEX memories_of_others ON memories (project_id, kind, at) WHERE author <> '';

-- Whose memories this person does not want to be told.
CREATE TABLE muted (
    author TEXT PRIMARY KEY
) WITHOUT ROWID;

-- A feed is a project as the team's server has it, or that of one's own machines: `mine/` before its name.
-- level: what leaves ("off", "kept", "learned"). cursor: how far it was read; round: how often an answer was
-- applied or the cursor set back, so that an answer to an older question is known. trouble: what is wrong, and
-- since when; tries and due_at put off the next try. proved_at: when both sides last had the same.
CREATE TABLE feeds (
    feed          TEXT PRIMARY KEY,
    project_id    TEXT NOT NULL,
    level         TEXT NOT NULL,
    cursor        INTEGER NOT NULL DEFAULT 0,
    round         INTEGER NOT NULL DEFAULT 0,
    there         INTEGER NOT NULL DEFAULT 0,
    pushed_at     INTEGER NOT NULL DEFAULT 0,
    pulled_at     INTEGER NOT NULL DEFAULT 0,
    proved_at     INTEGER NOT NULL DEFAULT 0,
    restarted_at  INTEGER NOT NULL DEFAULT 0,
    tries         INTEGER NOT NULL DEFAULT 0,
    due_at        INTEGER NOT NULL DEFAULT 0,
    trouble       TEXT NOT NULL DEFAULT '',
    trouble_since INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX feeds_by_project ON feeds (project_id);

-- What of this home the server has, by its id there: the hash that it acknowledged. state: "sent"; "refused"
-- (with that hash, for that reason); "bury" (it is to be forgotten there) and "buried". Holds no text.
CREATE TABLE sent (
    feed      TEXT NOT NULL REFERENCES feeds (feed) ON DELETE CASCADE,
    id        TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    kind      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    hash      TEXT NOT NULL,
    state     TEXT NOT NULL,
    reason    TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (feed, id)
) WITHOUT ROWID;
CREATE INDEX sent_by_memory ON sent (memory_id);

-- All rows and graves of a feed that were read, to prove that both sides have the same. memory_id is what a row
-- became here, "" if nothing did. Holds no text.
CREATE TABLE received (
    feed      TEXT NOT NULL REFERENCES feeds (feed) ON DELETE CASCADE,
    id        TEXT NOT NULL,
    seq       INTEGER NOT NULL,
    mark      INTEGER NOT NULL,
    buried    INTEGER NOT NULL DEFAULT 0,
    own       INTEGER NOT NULL DEFAULT 0,
    memory_id TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (feed, id)
) WITHOUT ROWID;
CREATE INDEX received_by_memory ON received (memory_id) WHERE memory_id <> '';

-- Memories that a person shares one by one, whatever the level says.
CREATE TABLE shared_by_hand (
    memory_id TEXT PRIMARY KEY
) WITHOUT ROWID;

-- Two people who decided otherwise on the same matter: both are told. Derived.
CREATE TABLE contradictions (
    own   TEXT NOT NULL,
    other TEXT NOT NULL,
    PRIMARY KEY (own, other)
) WITHOUT ROWID;
