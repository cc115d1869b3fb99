-- What a question chose for itself: the label of a model, and the name of a knowledge base.
ALTER TABLE answers ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE answers ADD COLUMN scope TEXT NOT NULL DEFAULT '';
