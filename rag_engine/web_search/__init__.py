"""Providers of web search: one module each, with `Settings` and `connect`."""
