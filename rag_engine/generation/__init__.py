"""Prompts and replies."""
