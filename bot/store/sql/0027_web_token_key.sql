-- Marks the tokens of the page: a made-up one is refused without a search of the database.
CREATE TABLE web_token_key (key BLOB NOT NULL) STRICT;
INSERT INTO web_token_key VALUES (randomblob(32));
