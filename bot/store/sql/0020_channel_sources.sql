-- Channels whose messages are searched. `asked` is the id of the command that added it, `post` our message that announces it.
CREATE TABLE channel_sources (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    knowledge_base TEXT NOT NULL,
    platform       TEXT NOT NULL,
    workspace      TEXT NOT NULL,
    channel        TEXT NOT NULL,
    name           TEXT NOT NULL,
    asked          TEXT NOT NULL,
    post           TEXT NOT NULL DEFAULT '',
    error          TEXT NOT NULL DEFAULT '',
    removed        INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX channel_sources_by_place ON channel_sources (platform, workspace, channel);

-- History still to be read, each span from `before` (empty: now) back to `after` (empty: the beginning).
CREATE TABLE channel_spans (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    source INTEGER NOT NULL REFERENCES channel_sources (id) ON DELETE CASCADE,
    before TEXT NOT NULL DEFAULT '',
    after  TEXT NOT NULL DEFAULT ''
);

-- Threads still to be read, after `cursor`.
CREATE TABLE channel_threads (
    source INTEGER NOT NULL REFERENCES channel_sources (id) ON DELETE CASCADE,
    thread TEXT NOT NULL,
    cursor TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (source, thread)
) WITHOUT ROWID;

-- Messages as people wrote them. A deleted one stays without author and text, so that a page read before does not bring it back.
CREATE TABLE channel_messages (
    source     INTEGER NOT NULL REFERENCES channel_sources (id) ON DELETE CASCADE,
    message    TEXT NOT NULL,
    document   TEXT NOT NULL,
    person     TEXT NOT NULL,
    name       TEXT NOT NULL,
    at         REAL NOT NULL,
    uri        TEXT NOT NULL,
    text       TEXT NOT NULL,
    changed_at REAL NOT NULL,
    PRIMARY KEY (source, message)
);
CREATE INDEX channel_messages_by_document ON channel_messages (source, document);
CREATE INDEX channel_messages_by_person ON channel_messages (person);

-- One document per thread (`thread:<id>`) or day (`day:2026-11-24`). `version` counts changes; it is written anew while `written` is
-- less. `forgotten`: a person removed it.
CREATE TABLE channel_documents (
    source    INTEGER NOT NULL REFERENCES channel_sources (id) ON DELETE CASCADE,
    document  TEXT NOT NULL,
    uri       TEXT NOT NULL,
    version   INTEGER NOT NULL DEFAULT 1,
    written   INTEGER NOT NULL DEFAULT 0,
    live      INTEGER NOT NULL DEFAULT 0,
    forgotten INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (source, document)
);
CREATE INDEX channel_documents_due ON channel_documents (source, live) WHERE version > written AND NOT forgotten;

-- Hashes of people whose messages are never read.
CREATE TABLE channel_optouts (
    digest TEXT PRIMARY KEY
) WITHOUT ROWID;
