-- Files are known by the message that brought them as well: with it they go. `source` is the URI under which the knowledge base
-- has the file; `settled` is 0 for one that is being read, or that may work when it is tried again. A promoted file has no `message`.
CREATE TABLE brought_files (
    platform       TEXT NOT NULL,
    workspace      TEXT NOT NULL,
    channel        TEXT NOT NULL,
    thread         TEXT NOT NULL,
    attachment     TEXT NOT NULL,
    message        TEXT NOT NULL,
    answer         TEXT NOT NULL,
    name           TEXT NOT NULL,
    uri            TEXT NOT NULL,
    source         TEXT NOT NULL,
    knowledge_base TEXT NOT NULL,
    document       TEXT NOT NULL,
    settled        INTEGER NOT NULL,
    at             REAL NOT NULL,
    PRIMARY KEY (platform, workspace, channel, thread, attachment, message)
);
INSERT INTO brought_files
    SELECT platform, workspace, channel, thread, attachment,
        coalesce((SELECT message FROM answers WHERE answers.id = taken_files.answer), ''),
        answer, name, uri, uri, knowledge_base, document, 1, at
    FROM taken_files;
DROP TABLE taken_files;
ALTER TABLE brought_files RENAME TO taken_files;
CREATE INDEX taken_files_by_answer ON taken_files (answer);
CREATE INDEX taken_files_by_message ON taken_files (platform, workspace, channel, message);
