-- What was read of a file whose passages are not in the index yet, packed as in `texts`: it need not be read again.
CREATE TABLE readings (
    document TEXT PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    digest   TEXT NOT NULL,
    sections BLOB NOT NULL
);

-- Documents that are to go and may still be in the index. No question finds them.
CREATE TABLE removals (
    document       TEXT PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    knowledge_base TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE
);

-- 1 for a knowledge base that is to go with its last document.
ALTER TABLE knowledge_bases ADD COLUMN closing INTEGER NOT NULL DEFAULT 0;

-- Files that a worker is at, by where they come from. `worker` is empty while none is; `deaths` counts the workers that ended
-- meanwhile, and `set_aside` is 1 once it is known that the file ends them.
CREATE TABLE attempts (
    knowledge_base TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    uri            TEXT NOT NULL,
    digest         TEXT NOT NULL DEFAULT '',
    worker         TEXT NOT NULL DEFAULT '',
    deaths         INTEGER NOT NULL DEFAULT 0,
    set_aside      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (knowledge_base, uri)
);
CREATE INDEX attempts_by_digest ON attempts (digest);
CREATE INDEX attempts_by_worker ON attempts (worker);

-- What earlier versions left unfinished when they were killed.
UPDATE documents SET state = 'queued', reason = 'The program ended before it was read to the end: add it again.'
    WHERE state = 'parsing' OR (state = 'embedding' AND digest <> '');

-- A job's own count of workers: `attempts` knows more.
ALTER TABLE jobs DROP COLUMN attempts;
