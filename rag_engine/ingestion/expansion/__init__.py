"""Summaries of passages and questions that they answer, made by a language model."""
