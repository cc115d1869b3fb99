"""Markdown text as a platform's lines."""
