-- One thing that a project knows is shown by many sessions. What makes it the same thing is its signature (a
-- hash of kind-specific parts, "" where a memory stays with its session); each row is what one session showed.
-- own_work: shown only by the session's unfinished work, so told once another session shows it, too.
-- formerly: the ids that it had under older rules, so that what a person did to them is done to it.
-- Derived by consolidation: `told_by`, the row that stands for all of them ("" for that row itself); `seen`, in
-- how many sessions it showed; `total`, how often in all of them.
ALTER TABLE memories ADD COLUMN signature TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN times INTEGER NOT NULL DEFAULT 1;
ALTER TABLE memories ADD COLUMN own_work INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN told_by TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN seen INTEGER NOT NULL DEFAULT 1;
ALTER TABLE memories ADD COLUMN total INTEGER NOT NULL DEFAULT 1;
ALTER TABLE memories ADD COLUMN formerly TEXT NOT NULL DEFAULT '';
CREATE INDEX memories_by_signature ON memories (project_id, kind, signature) WHERE signature <> '';
