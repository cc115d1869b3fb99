"""Parts of the chat service."""
