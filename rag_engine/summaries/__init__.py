"""Summaries of whole documents with citations for every section."""
