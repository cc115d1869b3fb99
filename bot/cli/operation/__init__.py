"""Commands that run the bot and look after its data."""
