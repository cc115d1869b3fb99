"""Answers that a person verified, and the question that each of them answers."""
