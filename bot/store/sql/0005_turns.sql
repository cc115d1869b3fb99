-- What a restart needs to go on with an answer: how many processes began it, how often it was begun in all, the adapter's own way
-- back to where a private answer goes, whether nobody had asked, and the message that was asked about.
ALTER TABLE answers ADD COLUMN attempts INTEGER NOT NULL DEFAULT 1;
ALTER TABLE answers ADD COLUMN begun INTEGER NOT NULL DEFAULT 1;
ALTER TABLE answers ADD COLUMN handle TEXT NOT NULL DEFAULT '';
ALTER TABLE answers ADD COLUMN unasked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE answers ADD COLUMN about TEXT NOT NULL DEFAULT '';
-- Nobody waits any more for what earlier versions left unfinished.
UPDATE answers SET state = 'failed' WHERE state IN ('received', 'placeholder', 'streaming');
CREATE INDEX answers_unfinished ON answers (platform, updated_at) WHERE state IN ('received', 'placeholder', 'streaming');

-- A command or a button is begun before it is done, and finished once its person knows what came of it.
ALTER TABLE events ADD COLUMN finished INTEGER NOT NULL DEFAULT 1;

-- How often an event was given to the adapter again after a restart: one that ends every process is given up.
ALTER TABLE inbox ADD COLUMN given INTEGER NOT NULL DEFAULT 0;
