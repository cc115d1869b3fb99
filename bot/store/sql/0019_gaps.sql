-- Questions without a good answer, grouped by meaning within their workspace. Their words stay in the trace of `turn`, so that what is
-- erased, withdrawn or expired there is gone here. `question` is an answer's id, or the engine's id of a question of the operator.
CREATE TABLE gap_questions (
    question        TEXT PRIMARY KEY,
    turn            TEXT NOT NULL,
    gap             TEXT NOT NULL,
    platform        TEXT NOT NULL,
    workspace       TEXT NOT NULL,
    channel         TEXT NOT NULL,
    thread          TEXT NOT NULL,
    person          TEXT NOT NULL,
    private         INTEGER NOT NULL,
    why             TEXT NOT NULL,
    knowledge_bases TEXT NOT NULL,
    at              REAL NOT NULL,
    model           TEXT NOT NULL,
    vector          BLOB NOT NULL
);
CREATE INDEX gap_questions_by_gap ON gap_questions (gap);
CREATE INDEX gap_questions_by_turn ON gap_questions (turn);

-- `name` was written by a model from the questions `named_from`: who may not read all of them is not shown it.
CREATE TABLE gaps (
    id         TEXT PRIMARY KEY,
    platform   TEXT NOT NULL,
    workspace  TEXT NOT NULL,
    name       TEXT NOT NULL DEFAULT '',
    named_from TEXT NOT NULL DEFAULT '[]',
    done_at    REAL NOT NULL DEFAULT 0
);

-- The last trace that was looked at.
CREATE TABLE gap_progress (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    ordinal INTEGER NOT NULL
);
INSERT INTO gap_progress VALUES (1, 0);

-- The channel that gets a workspace's digest, and when it is due.
CREATE TABLE gap_digests (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    person    TEXT NOT NULL,
    language  TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    due_at    REAL NOT NULL,
    PRIMARY KEY (platform, workspace)
);

-- A week's digest is stored before it is written, so that a killed process writes it once.
CREATE TABLE gap_digest_posts (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    week      TEXT NOT NULL,
    state     TEXT NOT NULL CHECK (state IN ('sending', 'done')),
    message   TEXT NOT NULL DEFAULT '',
    at        REAL NOT NULL,
    PRIMARY KEY (platform, workspace, channel, week)
);

-- What the person said besides the reason.
ALTER TABLE feedback ADD COLUMN note TEXT NOT NULL DEFAULT '';
