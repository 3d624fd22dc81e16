-- Search by meaning, and by the parts of names and scripts that the tokenizer does not cut.

-- `extra` is indexed beside the text (see store/tokenizer.py). `stretch` numbers the runs of neighbouring events,
-- about a thousand characters each, within a session; 0: of no stretch. `model` made the passage's vector.
ALTER TABLE passages ADD COLUMN extra TEXT NOT NULL DEFAULT '';
ALTER TABLE passages ADD COLUMN stretch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE passages ADD COLUMN model TEXT NOT NULL DEFAULT '';
CREATE INDEX passages_by_stretch ON passages (session_id, stretch);
CREATE INDEX passages_by_model ON passages (model, row);

DROP TABLE passage_fts;
CREATE VIRTUAL TABLE passage_fts USING fts5 (
    text, extra, scope, content = 'passages', content_rowid = 'row', tokenize = 'porter unicode61'
);
INSERT INTO passage_fts (passage_fts) VALUES ('rebuild');

-- One vector per passage, 8 bits a dimension, with the model that made it: two models never meet.
CREATE TABLE vectors (
    row        INTEGER PRIMARY KEY,
    model      TEXT NOT NULL,
    project_id TEXT NOT NULL,
    block      INTEGER NOT NULL,
    vector     BLOB NOT NULL
);

-- The signs of the vectors, one bit a dimension, up to 4,096 to a block: what a search scans.
CREATE TABLE blocks (
    number     INTEGER PRIMARY KEY,
    model      TEXT NOT NULL,
    project_id TEXT NOT NULL,
    filled     INTEGER NOT NULL,
    numbers    BLOB NOT NULL,
    codes      BLOB NOT NULL
);
CREATE INDEX blocks_by_project ON blocks (model, project_id);
