-- JSON: ids of what the asker and the experts said about it and the bot heard; Discord gives messages of a gap again.
ALTER TABLE expert_requests ADD COLUMN heard TEXT NOT NULL DEFAULT '[]';
