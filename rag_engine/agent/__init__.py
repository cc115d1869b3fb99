"""Answers a question by calls of tools that a language model chooses."""
