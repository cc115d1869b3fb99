-- Who wrote a message whose words or files were taken for somebody else's question: `footnote forget` finds them by it.
CREATE TABLE authors (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    message   TEXT NOT NULL,
    person    TEXT NOT NULL,
    PRIMARY KEY (platform, workspace, channel, message)
);
CREATE INDEX authors_by_person ON authors (platform, person);
