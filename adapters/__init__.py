"""One platform each: its SDK on one side, `bot.port` on the other."""
