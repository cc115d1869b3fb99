-- What a file says of itself: its author, dates and further properties.
CREATE TABLE properties (
    document TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    key      TEXT NOT NULL,
    ordinal  INTEGER NOT NULL,
    value    TEXT NOT NULL,
    PRIMARY KEY (document, key, ordinal)
) WITHOUT ROWID;

-- What people say of it. `folded` is the tag as compared: without case.
CREATE TABLE tags (
    document TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    folded   TEXT NOT NULL,
    tag      TEXT NOT NULL,
    PRIMARY KEY (document, folded)
) WITHOUT ROWID;
