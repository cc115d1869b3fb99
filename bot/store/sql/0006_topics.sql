-- Conversations that were started over: what was said before no longer belongs to them. `topic` becomes part of the conversation's id.
CREATE TABLE topics (
    conversation TEXT PRIMARY KEY,
    topic        TEXT NOT NULL,
    started_at   REAL NOT NULL
);
