-- The engine's ids of all versions of an answer, oldest first, as JSON; `turn` is the one that is shown.
ALTER TABLE answers ADD COLUMN versions TEXT NOT NULL DEFAULT '[]';
UPDATE answers SET versions = json_array(turn) WHERE turn <> '';
