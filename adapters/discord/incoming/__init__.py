"""From Discord to the service: messages, interactions, files."""
