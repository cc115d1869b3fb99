-- Keys of programs (`footnote serve`): what each may read. Of the key itself only its SHA-256 is kept.
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    digest BLOB NOT NULL UNIQUE,
    knowledge_bases TEXT NOT NULL,
    created_at REAL NOT NULL
) STRICT;
