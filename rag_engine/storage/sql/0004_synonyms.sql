-- Terms that stand for each other: `terms` is a JSON list, `folded` its first term as compared.
CREATE TABLE synonyms (
    ordinal        INTEGER PRIMARY KEY AUTOINCREMENT,
    knowledge_base TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    folded         TEXT NOT NULL,
    terms          TEXT NOT NULL,
    UNIQUE (knowledge_base, folded)
);
