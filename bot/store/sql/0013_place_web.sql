-- Whether the web is read: never, if a question asks for it, or also if the files do not answer.
ALTER TABLE place_settings ADD COLUMN web TEXT NOT NULL DEFAULT 'off';
