"""Our messages in Discord: channel messages and interaction replies."""
