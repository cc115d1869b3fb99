-- Events that were acknowledged to their platform and are not dealt with to their end yet. `payload` is the platform's JSON.
CREATE TABLE inbox (
    platform TEXT NOT NULL,
    event    TEXT NOT NULL,
    payload  TEXT NOT NULL,
    at       REAL NOT NULL,
    PRIMARY KEY (platform, event)
);

-- When the latest message of a platform that was looked at was written.
CREATE TABLE heard (
    platform TEXT PRIMARY KEY,
    at       REAL NOT NULL
);
