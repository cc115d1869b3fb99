"""Postings in segments, and spelling corrections."""
