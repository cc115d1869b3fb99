-- Which knowledge bases have summaries and made-up questions of their passages. Without a row: neither.
CREATE TABLE expansion_switches (
    knowledge_base TEXT PRIMARY KEY REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    summaries      INTEGER NOT NULL,
    questions      INTEGER NOT NULL
);

-- What a model made of a passage: `texts` is a JSON list, empty if it failed; `key` is a hash of text, prompt and model.
CREATE TABLE expansions (
    document TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    kind     TEXT NOT NULL CHECK (kind IN ('summary', 'question')),
    key      TEXT NOT NULL,
    passage  INTEGER NOT NULL,
    texts    TEXT NOT NULL,
    failure  TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (document, kind, key)
) WITHOUT ROWID;

-- Documents whose passages changed since. A change meanwhile gives the row another number.
CREATE TABLE expansion_jobs (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    document TEXT NOT NULL UNIQUE REFERENCES documents (id) ON DELETE CASCADE
);
CREATE TRIGGER expansion_of_new AFTER INSERT ON documents
WHEN NEW.state = 'ready' AND EXISTS (
    SELECT 1 FROM expansion_switches WHERE knowledge_base = NEW.knowledge_base AND (summaries OR questions)
)
BEGIN
    INSERT OR REPLACE INTO expansion_jobs (document) VALUES (NEW.id);
END;
CREATE TRIGGER expansion_of_changed AFTER UPDATE ON documents
WHEN NEW.state = 'ready' AND EXISTS (
    SELECT 1 FROM expansion_switches WHERE knowledge_base = NEW.knowledge_base AND (summaries OR questions)
)
BEGIN
    INSERT OR REPLACE INTO expansion_jobs (document) VALUES (NEW.id);
END;
