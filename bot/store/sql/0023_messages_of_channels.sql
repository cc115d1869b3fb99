-- Whether answers here may rest on messages that the platform finds in public channels.
ALTER TABLE place_settings ADD COLUMN messages TEXT NOT NULL DEFAULT 'off';

-- When the bot last heard this channel, in seconds since the epoch.
ALTER TABLE channel_sources ADD COLUMN seen_at REAL NOT NULL DEFAULT 0;
