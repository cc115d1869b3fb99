"""Typed rows, computed over by one checked SELECT."""
