"""Greetings, small talk, an overview."""
