"""Locks and signs of life between processes, and writes that a cancelled task finishes."""
