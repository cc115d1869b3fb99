"""Answers questions that need more than one search: plan, parallel searches, checked facts, follow-ups, report."""
