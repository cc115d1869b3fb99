-- Files of messages of channels that are sources, each a document at `uri`. `link` is the message, `next_at` when a `waiting` one is
-- read; `leaving`: its document is still to be removed.
CREATE TABLE channel_files (
    source     INTEGER NOT NULL REFERENCES channel_sources (id) ON DELETE CASCADE,
    message    TEXT NOT NULL,
    attachment TEXT NOT NULL,
    person     TEXT NOT NULL,
    uri        TEXT NOT NULL,
    link       TEXT NOT NULL,
    at         REAL NOT NULL,
    state      TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'read', 'unreadable', 'leaving')),
    tries      INTEGER NOT NULL DEFAULT 0,
    next_at    REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (source, message, attachment)
);
CREATE INDEX channel_files_due ON channel_files (source, at) WHERE state = 'waiting';
CREATE INDEX channel_files_leaving ON channel_files (source) WHERE state = 'leaving';

-- Whatever takes a message away takes its files along.
CREATE TRIGGER channel_files_of_emptied AFTER UPDATE OF text ON channel_messages WHEN NEW.text = '' BEGIN
    UPDATE channel_files SET state = 'leaving' WHERE source = NEW.source AND message = NEW.message;
END;
CREATE TRIGGER channel_files_of_deleted AFTER DELETE ON channel_messages BEGIN
    UPDATE channel_files SET state = 'leaving' WHERE source = OLD.source AND message = OLD.message;
END;
