-- Questions that were taken up and what became of them. The row is written before anything else happens: a message that is
-- delivered again finds it. `messages` and `citations` are JSON; `turn` is the engine's id of the answer, once there is one.
CREATE TABLE answers (
    id           TEXT PRIMARY KEY,
    platform     TEXT NOT NULL,
    workspace    TEXT NOT NULL,
    channel      TEXT NOT NULL,
    thread       TEXT NOT NULL,
    message      TEXT NOT NULL,
    uri          TEXT NOT NULL,
    person       TEXT NOT NULL,
    name         TEXT NOT NULL,
    language     TEXT NOT NULL,
    private      INTEGER NOT NULL,
    by_bot       INTEGER NOT NULL,
    question     TEXT NOT NULL,
    asked_at     REAL NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('received', 'placeholder', 'streaming', 'final', 'stopped', 'failed', 'withdrawn')),
    messages     TEXT NOT NULL,
    conversation TEXT NOT NULL,
    turn         TEXT NOT NULL,
    citations    TEXT NOT NULL,
    updated_at   REAL NOT NULL,
    UNIQUE (platform, workspace, channel, message)
);
CREATE INDEX answers_by_thread ON answers (platform, workspace, channel, thread);
CREATE INDEX answers_by_age ON answers (updated_at);

-- Commands and buttons that were dealt with: one that is delivered again is not done again.
CREATE TABLE events (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    event     TEXT NOT NULL,
    at        REAL NOT NULL,
    PRIMARY KEY (platform, workspace, event)
);
CREATE INDEX events_by_age ON events (at);

-- What people think of an answer, one opinion each. It outlives the row of the answer: `turn` leads to the engine's trace.
CREATE TABLE feedback (
    answer TEXT NOT NULL,
    person TEXT NOT NULL,
    rating TEXT NOT NULL CHECK (rating IN ('up', 'down')),
    turn   TEXT NOT NULL,
    at     REAL NOT NULL,
    PRIMARY KEY (answer, person)
);

-- Files of messages that were taken in, or could not be: none is taken in again whenever its thread is read.
-- `answer` is the row of `answers` whose message told of it; `attachment` is the platform's id of the file.
CREATE TABLE taken_files (
    platform       TEXT NOT NULL,
    workspace      TEXT NOT NULL,
    channel        TEXT NOT NULL,
    thread         TEXT NOT NULL,
    attachment     TEXT NOT NULL,
    answer         TEXT NOT NULL,
    name           TEXT NOT NULL,
    uri            TEXT NOT NULL,
    knowledge_base TEXT NOT NULL,
    document       TEXT NOT NULL,
    at             REAL NOT NULL,
    PRIMARY KEY (platform, workspace, channel, thread, attachment)
);
CREATE INDEX taken_files_by_answer ON taken_files (answer);
