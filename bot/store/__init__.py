"""Everything in chat.sqlite."""
