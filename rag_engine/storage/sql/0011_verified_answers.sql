-- `id` is that of the document with the text. `asked_at`: when the author was asked whether it still holds; 0 if not since it became outdated.
CREATE TABLE verified_answers (
    id             TEXT PRIMARY KEY,
    knowledge_base TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    question       TEXT NOT NULL,
    answer         TEXT NOT NULL,
    author         TEXT NOT NULL,
    platform       TEXT NOT NULL,
    workspace      TEXT NOT NULL,
    channel        TEXT NOT NULL,
    person         TEXT NOT NULL,
    uri            TEXT NOT NULL,
    written_at     REAL NOT NULL,
    review_at      REAL NOT NULL,
    asked_at       REAL NOT NULL DEFAULT 0
);
CREATE INDEX verified_answers_by_base ON verified_answers (knowledge_base, question);

CREATE TABLE verified_sources (
    answer   TEXT NOT NULL REFERENCES verified_answers (id) ON DELETE CASCADE,
    document TEXT NOT NULL,
    digest   TEXT NOT NULL,
    title    TEXT NOT NULL,
    PRIMARY KEY (answer, document)
);

CREATE TRIGGER verified_answer_removed AFTER DELETE ON documents
BEGIN
    DELETE FROM verified_answers WHERE id = OLD.id;
END;
