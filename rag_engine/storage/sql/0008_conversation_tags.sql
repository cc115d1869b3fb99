-- Written by a model; like a title, a tag never outlives what it may repeat.
CREATE TABLE conversation_tags (
    conversation TEXT NOT NULL,
    folded       TEXT NOT NULL,
    tag          TEXT NOT NULL,
    at           REAL NOT NULL,
    PRIMARY KEY (conversation, folded)
);
CREATE TRIGGER conversation_tags_of_nothing AFTER DELETE ON turns
WHEN NOT EXISTS (SELECT 1 FROM turns WHERE conversation = OLD.conversation)
BEGIN
    DELETE FROM conversation_tags WHERE conversation = OLD.conversation;
END;
