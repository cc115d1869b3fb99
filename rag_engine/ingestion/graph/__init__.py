"""Reads the entities of passages."""
