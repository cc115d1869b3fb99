"""A model's summaries, and questions that passages answer, to find them by."""
