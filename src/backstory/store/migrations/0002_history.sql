-- Agents' own histories, imported: what tells a changed one from an unchanged one, and who brought it in.

ALTER TABLE transcripts ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transcripts ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
-- 1 while something of it waits for what comes next, such as a call for its result.
ALTER TABLE transcripts ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
CREATE INDEX transcripts_by_session ON transcripts (session_id);

-- Who imported a session; '' if it was captured live.
ALTER TABLE sessions ADD COLUMN imported_by TEXT NOT NULL DEFAULT '';

-- The copy that we keep of a history, because agents delete theirs: how much of the source is in it, and how
-- long it then was.
ALTER TABLE transcripts ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transcripts ADD COLUMN kept_size INTEGER NOT NULL DEFAULT 0;
