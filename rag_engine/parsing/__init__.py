"""Parsers run in sandboxed worker processes."""
