"""What is known of a document beside its text, and filters on it."""
