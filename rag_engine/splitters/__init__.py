"""Splitters, one package each."""
