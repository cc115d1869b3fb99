"""Entities of passages and what they share, to find passages by one another."""
