-- What a research has found, until its answer is shown: `state` is JSON and names passages by their places, without their text.
CREATE TABLE research (
    ordinal      INTEGER PRIMARY KEY,
    turn         TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL,
    at           REAL NOT NULL,
    state        TEXT NOT NULL
);
