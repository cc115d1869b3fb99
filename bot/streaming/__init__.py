"""Answers as few edits, within a platform's rate limits."""
