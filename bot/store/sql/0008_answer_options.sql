-- How a channel wants its answers. Empty texts, no temperature: as the bot is set up.
ALTER TABLE place_settings ADD COLUMN persona TEXT NOT NULL DEFAULT '';
ALTER TABLE place_settings ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE place_settings ADD COLUMN temperature REAL;
ALTER TABLE place_settings ADD COLUMN empty_answer TEXT NOT NULL DEFAULT '';
ALTER TABLE place_settings ADD COLUMN citations INTEGER NOT NULL DEFAULT 1;
ALTER TABLE place_settings ADD COLUMN route TEXT NOT NULL DEFAULT 'auto' CHECK (route IN ('auto', 'chat'));
