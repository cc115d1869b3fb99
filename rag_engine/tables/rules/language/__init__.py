"""The words of questions about tables."""
