-- Search looks closely at a hundred texts for each question: their words are cut into pieces once, not each time.

-- The numbers of a passage's word pieces, each once, two bytes each, by the table of vectors that `made_by` names.
CREATE TABLE pieces (
    row     INTEGER PRIMARY KEY,
    made_by TEXT NOT NULL,
    numbers BLOB NOT NULL
);

-- They are made together with the vectors: the next worker makes both anew.
DELETE FROM vectors;
DELETE FROM blocks;
UPDATE passages SET model = '' WHERE model <> '';
