-- Which tools a language model may call: none, ours, or also those of the operator.
ALTER TABLE place_settings ADD COLUMN tools TEXT NOT NULL DEFAULT 'off';
