"""What a model adds to a conversation: its title, tags and further questions."""
