-- Keys begin with tenant and project, ids come from outside, and there is no sequence, trigger, generated
-- column, NOTIFY or advisory lock: the same schema runs on what distributes PostgreSQL by a column.

CREATE TABLE server (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id text NOT NULL
);

CREATE TABLE tenants (
    tenant text PRIMARY KEY,
    name text NOT NULL,
    created_at bigint NOT NULL
);

CREATE TABLE members (
    tenant text NOT NULL,
    member text NOT NULL,
    name text NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'maintainer', 'member', 'reader')),
    share_key bytea NOT NULL,
    PRIMARY KEY (tenant, member),
    UNIQUE (tenant, name)
);

CREATE TABLE tokens (
    tenant text NOT NULL,
    hash bytea NOT NULL,
    member text NOT NULL,
    device text NOT NULL,
    device_name text NOT NULL,
    joined_at bigint NOT NULL,
    seen_at bigint NOT NULL,
    revoked_at bigint,
    PRIMARY KEY (tenant, hash),
    UNIQUE (tenant, device)
);

CREATE TABLE invites (
    tenant text NOT NULL,
    hash bytea NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    PRIMARY KEY (tenant, hash)
);

-- `lane` is the member whose own devices alone see it, or empty for what the team sees. `head` numbers every
-- change in the order of commits: whoever adds to it holds the row until it commits.
CREATE TABLE projects (
    tenant text NOT NULL,
    project text NOT NULL,
    lane text NOT NULL DEFAULT '',
    restricted boolean NOT NULL DEFAULT false,
    head bigint NOT NULL DEFAULT 0,
    opened_by text NOT NULL,
    PRIMARY KEY (tenant, project)
);

CREATE TABLE patterns (
    tenant text NOT NULL,
    pattern text NOT NULL,
    opened_by text NOT NULL,
    PRIMARY KEY (tenant, pattern)
);

CREATE TABLE aliases (
    tenant text NOT NULL,
    alias text NOT NULL,
    project text NOT NULL,
    PRIMARY KEY (tenant, alias)
);

CREATE TABLE grants (
    tenant text NOT NULL,
    project text NOT NULL,
    member text NOT NULL,
    role text NOT NULL CHECK (role IN ('maintainer', 'member', 'reader')),
    PRIMARY KEY (tenant, project, member)
);

-- `body` is text: jsonb refuses what text may hold, and nothing here looks into it.
CREATE TABLE memories (
    tenant text NOT NULL,
    project text NOT NULL,
    id text NOT NULL,
    author text NOT NULL,
    device text NOT NULL,
    seq bigint NOT NULL,
    hash text NOT NULL,
    mark bigint NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    at bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (tenant, project, id)
);
CREATE INDEX memories_by_change ON memories (tenant, project, seq) INCLUDE (mark);

CREATE TABLE graves (
    tenant text NOT NULL,
    project text NOT NULL,
    id text NOT NULL,
    author text NOT NULL,
    seq bigint NOT NULL,
    mark bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (tenant, project, id)
);
CREATE INDEX graves_by_change ON graves (tenant, project, seq) INCLUDE (mark);

-- Ids and words only, and no policy: under one, `@@` may not use an index. Each text is read through
-- `memories`, which has one.
CREATE TABLE words (
    tenant text NOT NULL,
    project text NOT NULL,
    id text NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (tenant, project, id)
);
CREATE INDEX words_by_word ON words USING gin (words);

CREATE TABLE cursors (
    tenant text NOT NULL,
    project text NOT NULL,
    device text NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (tenant, project, device)
);

CREATE TABLE audit (
    tenant text NOT NULL,
    id text NOT NULL,
    at bigint NOT NULL,
    member text NOT NULL,
    act text NOT NULL,
    about text NOT NULL,
    PRIMARY KEY (tenant, id)
);

-- The planner's statistics keep samples of a column in a table of their own, where no burial finds them.
ALTER TABLE memories ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE words ALTER COLUMN words SET STATISTICS 0;
