"""What is known beside the text, and filters on it."""
