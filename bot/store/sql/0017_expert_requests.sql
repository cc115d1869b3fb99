-- The channels of the people who answer what the files of a knowledge base do not, in the order in which they are asked.
CREATE TABLE experts (
    knowledge_base TEXT NOT NULL,
    platform       TEXT NOT NULL,
    workspace      TEXT NOT NULL,
    channel        TEXT NOT NULL,
    position       INTEGER NOT NULL,
    PRIMARY KEY (knowledge_base, platform, workspace, channel)
);

-- A question to experts. What is still to be written follows from its state: see `bot/conversation/experts`.
-- `parent` is the request to the same question that this one waits with; `post` is our message to the experts, and its thread.
CREATE TABLE expert_requests (
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
    state          TEXT NOT NULL CHECK (state IN
        ('draft', 'sending', 'waiting', 'handing', 'answered', 'delivered', 'declined', 'withdrawn', 'closed')),
    expert_channel TEXT NOT NULL,
    post           TEXT NOT NULL DEFAULT '',
    hop            INTEGER NOT NULL DEFAULT 0,
    waited         REAL NOT NULL DEFAULT 0,
    reminded       INTEGER NOT NULL DEFAULT 0,
    expert         TEXT NOT NULL DEFAULT '',
    expert_name    TEXT NOT NULL DEFAULT '',
    said           TEXT NOT NULL DEFAULT '',
    said_in        TEXT NOT NULL DEFAULT '',
    said_uri       TEXT NOT NULL DEFAULT '',
    said_at        REAL NOT NULL DEFAULT 0,
    delivered      TEXT NOT NULL DEFAULT '[]',
    updated_at     REAL NOT NULL
);
CREATE INDEX expert_requests_by_post ON expert_requests (platform, workspace, expert_channel, post);
CREATE INDEX expert_requests_by_answer ON expert_requests (answer_id);
