-- Which knowledge bases have a graph of their entities. Without a row: none.
CREATE TABLE graph_switches (
    knowledge_base TEXT PRIMARY KEY REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    by_model       INTEGER NOT NULL
);

-- Passages that were read for it; `key` is a hash of text, rules, prompt and model.
CREATE TABLE graph_passages (
    id             INTEGER PRIMARY KEY,
    document       TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    knowledge_base TEXT NOT NULL,
    chunk          TEXT NOT NULL,
    ordinal        INTEGER NOT NULL,
    key            TEXT NOT NULL,
    failure        TEXT NOT NULL DEFAULT '',
    UNIQUE (document, key)
);
CREATE INDEX graph_passages_by_knowledge_base ON graph_passages (knowledge_base);

-- `entity` is a hash of knowledge base and name: no search by it touches rows of another knowledge base.
CREATE TABLE graph_mentions (
    entity  INTEGER NOT NULL,
    passage INTEGER NOT NULL REFERENCES graph_passages (id) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    kind    TEXT NOT NULL,
    subject INTEGER NOT NULL,
    PRIMARY KEY (entity, passage)
) WITHOUT ROWID;
CREATE INDEX graph_mentions_by_passage ON graph_mentions (passage);

-- Without a text both name the same thing, in its document or (`everywhere`) in its knowledge base.
CREATE TABLE graph_relations (
    subject    INTEGER NOT NULL,
    object     INTEGER NOT NULL,
    passage    INTEGER NOT NULL REFERENCES graph_passages (id) ON DELETE CASCADE,
    text       TEXT NOT NULL,
    everywhere INTEGER NOT NULL,
    PRIMARY KEY (subject, object, passage)
) WITHOUT ROWID;
CREATE INDEX graph_relations_by_object ON graph_relations (object);
CREATE INDEX graph_relations_by_passage ON graph_relations (passage);

-- As `expansion_jobs`.
CREATE TABLE graph_jobs (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    document TEXT NOT NULL UNIQUE REFERENCES documents (id) ON DELETE CASCADE
);
CREATE TRIGGER graph_of_new AFTER INSERT ON documents
WHEN NEW.state = 'ready' AND EXISTS (SELECT 1 FROM graph_switches WHERE knowledge_base = NEW.knowledge_base)
BEGIN
    INSERT OR REPLACE INTO graph_jobs (document) VALUES (NEW.id);
END;
CREATE TRIGGER graph_of_changed AFTER UPDATE ON documents
WHEN NEW.state = 'ready' AND EXISTS (SELECT 1 FROM graph_switches WHERE knowledge_base = NEW.knowledge_base)
BEGIN
    INSERT OR REPLACE INTO graph_jobs (document) VALUES (NEW.id);
END;
