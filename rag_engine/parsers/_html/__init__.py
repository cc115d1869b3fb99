"""What of a page a reader sees."""
