"""What a model makes of passages to find them by: summaries, and questions that they answer."""
