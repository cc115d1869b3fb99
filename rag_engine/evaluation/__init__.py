"""Retrieval measures on judged data sets."""
