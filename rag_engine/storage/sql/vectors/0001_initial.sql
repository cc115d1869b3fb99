CREATE TABLE models (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

-- `hash` is in hex; `vector` is little-endian float32; `used` is the day of the last use, so that a read seldom has to write.
CREATE TABLE vectors (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    model  INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
    hash   TEXT NOT NULL,
    used   INTEGER NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (model, hash)
);
CREATE INDEX vectors_by_use ON vectors (used, id);
