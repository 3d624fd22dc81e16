-- Search looks through what people and models wrote for others to read, in passages of a few sentences, and not
-- through the raw output of tools. The worker harvests all events anew; a small memory is ready at the next search.

-- What a passage is (a closing, a commit, a step, …), and the beginning of what its turn was asked.
ALTER TABLE passages ADD COLUMN form TEXT NOT NULL DEFAULT '';
ALTER TABLE passages ADD COLUMN context TEXT NOT NULL DEFAULT '';
-- The turn of its session; 0 for memories.
ALTER TABLE passages RENAME COLUMN stretch TO turn;

DROP TABLE pieces;
DELETE FROM vectors;
DELETE FROM blocks;
UPDATE passages SET model = '' WHERE model <> '';
DELETE FROM meta WHERE key IN ('indexed_events', 'unshelved');

DROP TABLE passage_fts;
CREATE VIRTUAL TABLE passage_fts USING fts5 (
    text, extra, context, content = '', tokenize = 'porter unicode61'
);

-- Of a small memory the old passages of events go at once and its memories are indexed at once; in a large one the
-- worker does both, slice by slice.
INSERT INTO meta (key, value) SELECT 'unshelved', max(row) FROM passages HAVING count(*) > 20000;
DELETE FROM passages WHERE turn > 0 AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unshelved');
INSERT OR IGNORE INTO shelves (project_id)
SELECT DISTINCT project_id FROM passages WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unshelved');
INSERT INTO passage_fts (rowid, text, extra, context)
SELECT s.number << 32 | p.row, p.text, p.extra, '' FROM passages p JOIN shelves s ON s.project_id = p.project_id
WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unshelved')
ORDER BY 1;
