-- Filters that a channel's questions are limited by, one a line.
ALTER TABLE place_settings ADD COLUMN filter TEXT NOT NULL DEFAULT '';
