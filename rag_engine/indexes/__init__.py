"""Indexes, one package each."""
