-- What the buttons under an answer ask when they are pressed: follow-up questions, or answers to a question back.
ALTER TABLE answers ADD COLUMN choices TEXT NOT NULL DEFAULT '[]';
