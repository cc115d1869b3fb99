"""Erases a person, channel or document from all data and the bytes on disk, and verifies it.

Marks (ids) are saved first, so that the next run finishes an interrupted one.
"""
