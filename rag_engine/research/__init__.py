"""Plan, parallel searches, checked facts, follow-ups, report."""
