-- Asking a model, if the user has configured one: what was spent, and what was answered.

-- One row a call, written before it is made (an estimate, as long as `answered_at` is empty) and filled in
-- step by step: what finalised the work, when it was asked, answered, parsed and stored. Money is in millionths.
CREATE TABLE model_calls (
    id           TEXT PRIMARY KEY,
    purpose      TEXT NOT NULL,
    session_id   TEXT NOT NULL,
    provider     TEXT NOT NULL,
    model        TEXT NOT NULL,
    finalized_at INTEGER NOT NULL,
    asked_at     INTEGER NOT NULL,
    answered_at  INTEGER,
    parsed_at    INTEGER,
    stored_at    INTEGER,
    outcome      TEXT NOT NULL,
    error        TEXT NOT NULL DEFAULT '',
    tokens_in    INTEGER NOT NULL,
    tokens_out   INTEGER NOT NULL,
    cost         INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX model_calls_by_time ON model_calls (asked_at);
CREATE INDEX model_calls_by_session ON model_calls (session_id, asked_at);

-- What a model said about a stretch of a session, by the hash of what it was asked, so that nothing is ever
-- sent twice and a rebuild spends nothing. `body` holds the claims with the events that they cite.
CREATE TABLE model_answers (
    id         TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    first_seq  INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL,
    model      TEXT NOT NULL,
    version    TEXT NOT NULL,
    body       TEXT NOT NULL,
    at         INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX model_answers_by_session ON model_answers (session_id, last_seq);
