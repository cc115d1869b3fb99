-- Versions of an exchange share its position in the conversation; one of them is active.
ALTER TABLE turns ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
UPDATE turns SET position = ordinal;
DROP INDEX turns_by_conversation;
CREATE INDEX turns_by_conversation ON turns (conversation, position);
