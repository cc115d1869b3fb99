-- Places whose files are read again and again. `options` is a JSON object; `removed` is 1 while its documents are being removed.
CREATE TABLE synced_sources (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    knowledge_base TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    kind           TEXT NOT NULL,
    address        TEXT NOT NULL,
    options        TEXT NOT NULL,
    every_seconds  REAL NOT NULL,
    state          TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'ready', 'failed')),
    error          TEXT NOT NULL DEFAULT '',
    ran_at         REAL,
    next_at        REAL NOT NULL DEFAULT 0,
    entries        INTEGER NOT NULL DEFAULT 0,
    new            INTEGER NOT NULL DEFAULT 0,
    changed        INTEGER NOT NULL DEFAULT 0,
    gone           INTEGER NOT NULL DEFAULT 0,
    failed         INTEGER NOT NULL DEFAULT 0,
    removed        INTEGER NOT NULL DEFAULT 0,
    UNIQUE (knowledge_base, kind, address)
);

-- What a source listed, with the fingerprint of what was read of it. It leads to a document by the URI.
CREATE TABLE synced_entries (
    source      INTEGER NOT NULL REFERENCES synced_sources (id) ON DELETE CASCADE,
    key         TEXT NOT NULL,
    uri         TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    validator   TEXT NOT NULL,
    digest      TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('unread', 'present', 'forgotten', 'leaving')),
    reason      TEXT NOT NULL,
    title       TEXT NOT NULL,
    link        TEXT NOT NULL,
    version     TEXT NOT NULL,
    PRIMARY KEY (source, key)
) WITHOUT ROWID;
CREATE INDEX synced_entries_by_uri ON synced_entries (uri);
CREATE INDEX synced_entries_by_digest ON synced_entries (source, digest);
