-- Conversations. `ordinal` is the order of writing: clocks tie, and go back.
CREATE TABLE turns (
    ordinal      INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL,
    role         TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
    text         TEXT NOT NULL,
    at           REAL NOT NULL
);
CREATE INDEX turns_by_conversation ON turns (conversation, ordinal);

-- No reference to turns: a turn that failed has a trace and no text.
CREATE TABLE traces (
    ordinal      INTEGER PRIMARY KEY AUTOINCREMENT,
    turn         TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL,
    at           REAL NOT NULL,
    seconds      TEXT NOT NULL,
    fallbacks    TEXT NOT NULL,
    details      TEXT NOT NULL
);
CREATE INDEX traces_by_conversation ON traces (conversation, ordinal);

-- `folded` is the name as compared: normalised, without case.
CREATE TABLE knowledge_bases (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    folded     TEXT NOT NULL UNIQUE,
    model      TEXT NOT NULL,
    created_at REAL NOT NULL
);

CREATE TABLE documents (
    id             TEXT PRIMARY KEY,
    knowledge_base TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    title          TEXT NOT NULL,
    uri            TEXT NOT NULL,
    media_type     TEXT NOT NULL,
    digest         TEXT NOT NULL,
    size           INTEGER NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('queued', 'parsing', 'embedding', 'ready', 'failed')),
    reason         TEXT NOT NULL,
    chunks         INTEGER NOT NULL,
    pages          INTEGER NOT NULL,
    created_at     REAL NOT NULL,
    updated_at     REAL NOT NULL
);
CREATE INDEX documents_by_digest ON documents (knowledge_base, digest);
CREATE INDEX documents_by_title ON documents (knowledge_base, title, id);

-- Within a knowledge base a URI leads to one document; a document may have many URIs.
CREATE TABLE sources (
    ordinal        INTEGER PRIMARY KEY AUTOINCREMENT,
    knowledge_base TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    uri            TEXT NOT NULL,
    document       TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    UNIQUE (knowledge_base, uri)
);
CREATE INDEX sources_by_document ON sources (document, ordinal);

-- The whole text of a document as it was read: zlib over JSON lines, one section a line.
CREATE TABLE texts (
    document TEXT PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    sections BLOB NOT NULL
);

-- Files waiting to be read; a finished job's row is gone. `worker` is empty while nobody has the job.
-- `path` is bytes, as the file system has it: a name need not be UTF-8.
CREATE TABLE jobs (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    knowledge_base TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    path           BLOB NOT NULL,
    worker         TEXT NOT NULL DEFAULT '',
    attempts       INTEGER NOT NULL DEFAULT 0,
    created_at     REAL NOT NULL,
    UNIQUE (knowledge_base, path)
);
CREATE INDEX jobs_by_worker ON jobs (worker, id);
