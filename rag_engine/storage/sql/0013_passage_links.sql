-- Where a passage can be read: a message's permalink, by the anchor of its section.
CREATE TABLE passage_links (
    document TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    anchor   TEXT NOT NULL,
    link     TEXT NOT NULL,
    PRIMARY KEY (document, anchor)
) WITHOUT ROWID;
