"""Streams, edits, private replies."""
