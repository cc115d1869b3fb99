"""Streamed answers as few edits, within the rate limits of a platform."""
