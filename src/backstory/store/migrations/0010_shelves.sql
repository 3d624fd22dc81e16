-- Search within a project reads that project's words only, however many others there are.

-- In the index of words a passage is known by (shelf << 32 | row): a project's passages stand together in every
-- word's list, on a shelf of their own. `passages.scope`, which made the project a word, is not used any more.
CREATE TABLE shelves (
    number     INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL UNIQUE
);

DROP TABLE passage_fts;
CREATE VIRTUAL TABLE passage_fts USING fts5 (
    text, extra, content = '', tokenize = 'porter unicode61'
);

-- A small memory is indexed at once. In a large one the worker does it, the newest first: `unshelved` is the last
-- passage that is not in the index of words yet.
INSERT INTO meta (key, value) SELECT 'unshelved', max(row) FROM passages HAVING count(*) > 20000;
INSERT INTO shelves (project_id)
SELECT DISTINCT project_id FROM passages WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unshelved');
INSERT INTO passage_fts (rowid, text, extra)
SELECT s.number << 32 | p.row, p.text, p.extra FROM passages p JOIN shelves s ON s.project_id = p.project_id
ORDER BY 1;
