-- Titles that people gave. `at` is when; a title may repeat what was said, so it never outlives its conversation.
CREATE TABLE conversation_titles (
    conversation TEXT PRIMARY KEY,
    title        TEXT NOT NULL,
    at           REAL NOT NULL
);
CREATE TRIGGER conversation_titles_of_nothing AFTER DELETE ON turns
WHEN NOT EXISTS (SELECT 1 FROM turns WHERE conversation = OLD.conversation)
BEGIN
    DELETE FROM conversation_titles WHERE conversation = OLD.conversation;
END;
