-- The page: links that sign in once, and the sessions they began. Of each token only its SHA-256 is kept.
-- `platform` is empty for the operator, else `person` administers `workspace`.
CREATE TABLE web_links (
    digest     BLOB PRIMARY KEY,
    platform   TEXT NOT NULL,
    workspace  TEXT NOT NULL,
    person     TEXT NOT NULL,
    name       TEXT NOT NULL,
    expires_at REAL NOT NULL
) STRICT;
CREATE TABLE web_sessions (
    digest    BLOB PRIMARY KEY,
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    person    TEXT NOT NULL,
    name      TEXT NOT NULL,
    began_at  REAL NOT NULL,
    seen_at   REAL NOT NULL
) STRICT;
CREATE INDEX web_sessions_by_person ON web_sessions (platform, person);

-- What became of each question, without a word of it. It goes with its row in `answers`.
CREATE TABLE turn_figures (
    answer        TEXT PRIMARY KEY,
    platform      TEXT NOT NULL,
    workspace     TEXT NOT NULL,
    channel       TEXT NOT NULL,
    asked_at      REAL NOT NULL,
    outcome       TEXT NOT NULL CHECK (outcome IN ('answered', 'unanswered', 'talk', 'stopped', 'failed')),
    seconds       REAL,
    first_seconds REAL,
    up            INTEGER NOT NULL DEFAULT 0,
    down          INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX turn_figures_by_outcome ON turn_figures (outcome, asked_at, answer, platform, workspace, channel);
CREATE INDEX turn_figures_by_channel ON turn_figures (platform, workspace, channel, asked_at, answer, outcome);
CREATE INDEX turn_figures_rated ON turn_figures (asked_at, answer, platform, workspace) WHERE down > 0;
CREATE INDEX answers_by_time ON answers (asked_at, id);
CREATE INDEX answers_by_workspace ON answers (platform, workspace, asked_at, id);

-- The same by day (days since 1970, UTC); `tenths`: of a second, rounded down ever more coarsely, or -1 if it was not measured.
CREATE TABLE turn_days (
    day       INTEGER NOT NULL,
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    outcome   TEXT NOT NULL,
    tenths    INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    up        INTEGER NOT NULL,
    down      INTEGER NOT NULL,
    PRIMARY KEY (day, platform, workspace, outcome, tenths)
) WITHOUT ROWID;
CREATE TRIGGER turn_counted AFTER INSERT ON turn_figures
BEGIN
    INSERT INTO turn_days VALUES (CAST(NEW.asked_at / 86400 AS INTEGER), NEW.platform, NEW.workspace, NEW.outcome,
        CASE WHEN NEW.seconds IS NULL THEN -1 WHEN NEW.seconds < 2 THEN CAST(NEW.seconds * 10 AS INTEGER)
        WHEN NEW.seconds < 10 THEN CAST(NEW.seconds * 5 AS INTEGER) * 2 WHEN NEW.seconds < 60 THEN CAST(NEW.seconds AS INTEGER) * 10
        ELSE min(CAST(NEW.seconds / 10 AS INTEGER), 60) * 100 END, 1, NEW.up, NEW.down)
    ON CONFLICT DO UPDATE SET count = count + excluded.count, up = up + excluded.up, down = down + excluded.down;
END;
CREATE TRIGGER turn_uncounted AFTER DELETE ON turn_figures
BEGIN
    INSERT INTO turn_days VALUES (CAST(OLD.asked_at / 86400 AS INTEGER), OLD.platform, OLD.workspace, OLD.outcome,
        CASE WHEN OLD.seconds IS NULL THEN -1 WHEN OLD.seconds < 2 THEN CAST(OLD.seconds * 10 AS INTEGER)
        WHEN OLD.seconds < 10 THEN CAST(OLD.seconds * 5 AS INTEGER) * 2 WHEN OLD.seconds < 60 THEN CAST(OLD.seconds AS INTEGER) * 10
        ELSE min(CAST(OLD.seconds / 10 AS INTEGER), 60) * 100 END, -1, -OLD.up, -OLD.down)
    ON CONFLICT DO UPDATE SET count = count + excluded.count, up = up + excluded.up, down = down + excluded.down;
    DELETE FROM turn_days WHERE day = CAST(OLD.asked_at / 86400 AS INTEGER) AND count = 0;
END;
CREATE TRIGGER turn_recounted AFTER UPDATE ON turn_figures
BEGIN
    INSERT INTO turn_days VALUES (CAST(OLD.asked_at / 86400 AS INTEGER), OLD.platform, OLD.workspace, OLD.outcome,
        CASE WHEN OLD.seconds IS NULL THEN -1 WHEN OLD.seconds < 2 THEN CAST(OLD.seconds * 10 AS INTEGER)
        WHEN OLD.seconds < 10 THEN CAST(OLD.seconds * 5 AS INTEGER) * 2 WHEN OLD.seconds < 60 THEN CAST(OLD.seconds AS INTEGER) * 10
        ELSE min(CAST(OLD.seconds / 10 AS INTEGER), 60) * 100 END, -1, -OLD.up, -OLD.down)
    ON CONFLICT DO UPDATE SET count = count + excluded.count, up = up + excluded.up, down = down + excluded.down;
    INSERT INTO turn_days VALUES (CAST(NEW.asked_at / 86400 AS INTEGER), NEW.platform, NEW.workspace, NEW.outcome,
        CASE WHEN NEW.seconds IS NULL THEN -1 WHEN NEW.seconds < 2 THEN CAST(NEW.seconds * 10 AS INTEGER)
        WHEN NEW.seconds < 10 THEN CAST(NEW.seconds * 5 AS INTEGER) * 2 WHEN NEW.seconds < 60 THEN CAST(NEW.seconds AS INTEGER) * 10
        ELSE min(CAST(NEW.seconds / 10 AS INTEGER), 60) * 100 END, 1, NEW.up, NEW.down)
    ON CONFLICT DO UPDATE SET count = count + excluded.count, up = up + excluded.up, down = down + excluded.down;
    DELETE FROM turn_days WHERE day = CAST(OLD.asked_at / 86400 AS INTEGER) AND count = 0;
END;

CREATE TABLE turn_citations (
    document TEXT NOT NULL,
    answer   TEXT NOT NULL,
    PRIMARY KEY (document, answer)
) WITHOUT ROWID;
CREATE INDEX turn_citations_by_answer ON turn_citations (answer);

-- Tokens of language models by day (days since 1970, UTC); without a workspace for what no question caused.
CREATE TABLE model_days (
    day           INTEGER NOT NULL,
    platform      TEXT NOT NULL,
    workspace     TEXT NOT NULL,
    model         TEXT NOT NULL,
    calls         INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    reply_tokens  INTEGER NOT NULL,
    PRIMARY KEY (day, platform, workspace, model)
) WITHOUT ROWID;

CREATE TRIGGER turn_ended AFTER UPDATE OF state ON answers
WHEN NEW.state IN ('final', 'stopped', 'failed') AND NEW.state <> OLD.state
BEGIN
    DELETE FROM turn_figures WHERE answer = NEW.id;
    INSERT INTO turn_figures (answer, platform, workspace, channel, asked_at, outcome, up, down)
    SELECT NEW.id, NEW.platform, NEW.workspace, NEW.channel, NEW.asked_at,
        CASE WHEN NEW.state <> 'final' THEN NEW.state WHEN NEW.citations <> '[]' THEN 'answered'
            WHEN NEW.turn <> '' THEN 'unanswered' ELSE 'talk' END,
        (SELECT count(*) FROM feedback WHERE answer = NEW.id AND rating = 'up'),
        (SELECT count(*) FROM feedback WHERE answer = NEW.id AND rating = 'down');
END;
CREATE TRIGGER turn_cited AFTER UPDATE OF citations ON answers WHEN NEW.citations <> OLD.citations
BEGIN
    DELETE FROM turn_citations WHERE answer = NEW.id;
    INSERT OR IGNORE INTO turn_citations (document, answer)
        SELECT json_extract(value, '$.document'), NEW.id FROM json_each(NEW.citations);
END;
CREATE TRIGGER turn_withdrawn AFTER UPDATE OF state ON answers WHEN NEW.state = 'withdrawn'
BEGIN
    DELETE FROM turn_figures WHERE answer = NEW.id;
END;
CREATE TRIGGER turn_removed AFTER DELETE ON answers
BEGIN
    DELETE FROM turn_figures WHERE answer = OLD.id;
    DELETE FROM turn_citations WHERE answer = OLD.id;
END;
CREATE TRIGGER turn_rated AFTER INSERT ON feedback
BEGIN
    UPDATE turn_figures SET up = (SELECT count(*) FROM feedback WHERE answer = NEW.answer AND rating = 'up'),
        down = (SELECT count(*) FROM feedback WHERE answer = NEW.answer AND rating = 'down') WHERE answer = NEW.answer;
END;
CREATE TRIGGER turn_unrated AFTER DELETE ON feedback
BEGIN
    UPDATE turn_figures SET up = (SELECT count(*) FROM feedback WHERE answer = OLD.answer AND rating = 'up'),
        down = (SELECT count(*) FROM feedback WHERE answer = OLD.answer AND rating = 'down') WHERE answer = OLD.answer;
END;

INSERT INTO turn_figures (answer, platform, workspace, channel, asked_at, outcome, up, down)
    SELECT id, platform, workspace, channel, asked_at,
        CASE WHEN state <> 'final' THEN state WHEN citations <> '[]' THEN 'answered'
            WHEN turn <> '' THEN 'unanswered' ELSE 'talk' END,
        (SELECT count(*) FROM feedback WHERE answer = id AND rating = 'up'),
        (SELECT count(*) FROM feedback WHERE answer = id AND rating = 'down')
    FROM answers WHERE state IN ('final', 'stopped', 'failed');
INSERT OR IGNORE INTO turn_citations (document, answer)
    SELECT json_extract(value, '$.document'), answers.id FROM answers, json_each(answers.citations)
    WHERE json_extract(value, '$.document') IS NOT NULL;
