-- How the bot behaves in a channel; its threads have the channel's. No row: the defaults.
CREATE TABLE place_settings (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    mode      TEXT NOT NULL CHECK (mode IN ('mention', 'thread', 'auto')),
    knowledge TEXT NOT NULL CHECK (knowledge IN ('strict', 'blended')),
    language  TEXT NOT NULL,
    PRIMARY KEY (platform, workspace, channel)
);

-- Knowledge bases that were made in chat, and who may read them: one place, or (channel is empty) the whole workspace.
-- A place's own knowledge base has no label. What has no row here was made by the operator.
CREATE TABLE audiences (
    knowledge_base TEXT PRIMARY KEY,
    platform       TEXT NOT NULL,
    workspace      TEXT NOT NULL,
    channel        TEXT NOT NULL,
    thread         TEXT NOT NULL,
    label          TEXT NOT NULL,
    folded         TEXT NOT NULL,
    UNIQUE (platform, workspace, channel, thread, folded)
);
-- Threads that ever got a file are many, what people gave a label or a channel holds is little.
CREATE INDEX audiences_by_label ON audiences (platform, workspace, folded) WHERE folded <> '';
CREATE INDEX audiences_of_channels ON audiences (platform, workspace) WHERE thread = '';

-- Which other knowledge bases a channel uses.
CREATE TABLE bindings (
    ordinal        INTEGER PRIMARY KEY AUTOINCREMENT,
    platform       TEXT NOT NULL,
    workspace      TEXT NOT NULL,
    channel        TEXT NOT NULL,
    knowledge_base TEXT NOT NULL,
    UNIQUE (platform, workspace, channel, knowledge_base)
);
CREATE INDEX bindings_by_knowledge_base ON bindings (knowledge_base);
