"""Rerankers, one module each."""
