-- How many memories are in which state, and what made them: counted off an index, not off the texts.

CREATE INDEX memories_by_state ON memories (status, made_by);
