-- An expert is a channel, a person or a group; each of a group's people is asked alone. What each was written is a row of its own.
-- `person` is empty for a channel; `also` are further messages of ours there that can be replied to.
CREATE TABLE expert_posts (
    request   TEXT NOT NULL,
    hop       INTEGER NOT NULL,
    person    TEXT NOT NULL,
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    post      TEXT NOT NULL DEFAULT '',
    also      TEXT NOT NULL DEFAULT '[]',
    state     TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'asked', 'declined', 'refused')),
    PRIMARY KEY (request, hop, person)
);
CREATE INDEX expert_posts_by_place ON expert_posts (platform, workspace, channel);

INSERT INTO expert_posts (request, hop, person, platform, workspace, channel, post, state)
    SELECT id, hop, '', platform, workspace, expert_channel, post, CASE state WHEN 'sending' THEN 'open' ELSE 'asked' END
    FROM expert_requests WHERE post <> '';

-- Experts may ask back: `asking` shows their question to the asker, `asked` waits for the reply, `replying` brings it to them.
-- `round` counts the messages to the asker that are over; `quotes` are what the asker agreed to show, each with its document.
CREATE TABLE expert_requests_of_people (
    id             TEXT PRIMARY KEY,
    parent         TEXT NOT NULL DEFAULT '',
    knowledge_base TEXT NOT NULL,
    platform       TEXT NOT NULL,
    workspace      TEXT NOT NULL,
    channel        TEXT NOT NULL,
    thread         TEXT NOT NULL,
    message        TEXT NOT NULL,
    answer_id      TEXT NOT NULL,
    private        INTEGER NOT NULL,
    person         TEXT NOT NULL,
    name           TEXT NOT NULL,
    language       TEXT NOT NULL,
    question       TEXT NOT NULL,
    body           TEXT NOT NULL,
    quotes         TEXT NOT NULL DEFAULT '[]',
    state          TEXT NOT NULL CHECK (state IN ('draft', 'sending', 'waiting', 'handing', 'asking', 'asked', 'replying',
        'answered', 'delivered', 'declined', 'withdrawn', 'closed')),
    expert_channel TEXT NOT NULL,
    hop            INTEGER NOT NULL DEFAULT 0,
    waited         REAL NOT NULL DEFAULT 0,
    reminded       INTEGER NOT NULL DEFAULT 0,
    expert         TEXT NOT NULL DEFAULT '',
    expert_name    TEXT NOT NULL DEFAULT '',
    said           TEXT NOT NULL DEFAULT '',
    said_in        TEXT NOT NULL DEFAULT '',
    said_uri       TEXT NOT NULL DEFAULT '',
    said_at        REAL NOT NULL DEFAULT 0,
    said_by_post   TEXT NOT NULL DEFAULT '',
    carry          INTEGER NOT NULL DEFAULT 0,
    files          TEXT NOT NULL DEFAULT '[]',
    delivered      TEXT NOT NULL DEFAULT '[]',
    receipt        TEXT NOT NULL DEFAULT '[]',
    replied        TEXT NOT NULL DEFAULT '',
    replied_in     TEXT NOT NULL DEFAULT '',
    round          INTEGER NOT NULL DEFAULT 0,
    updated_at     REAL NOT NULL
);
INSERT INTO expert_requests_of_people (id, parent, knowledge_base, platform, workspace, channel, thread, message, answer_id, private,
        person, name, language, question, body, state, expert_channel, hop, waited, reminded, expert, expert_name, said, said_in,
        said_uri, said_at, delivered, updated_at)
    SELECT id, parent, knowledge_base, platform, workspace, channel, thread, message, answer_id, private,
        person, name, language, question, body, state, expert_channel, hop, waited, reminded, expert, expert_name, said, said_in,
        said_uri, said_at, delivered, updated_at
    FROM expert_requests;
DROP TABLE expert_requests;
ALTER TABLE expert_requests_of_people RENAME TO expert_requests;
CREATE INDEX expert_requests_by_answer ON expert_requests (answer_id);
CREATE INDEX expert_requests_by_place ON expert_requests (platform, workspace, channel, thread);
