"""Everything in chat.sqlite: turns, places, pending events, files of messages."""
