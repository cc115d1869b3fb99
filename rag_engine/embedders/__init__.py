"""Embedders, one module each."""
