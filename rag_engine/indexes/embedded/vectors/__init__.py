"""Vectors in memory."""
