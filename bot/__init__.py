"""Footnote as a program: the chat service behind every platform, and the command line."""
