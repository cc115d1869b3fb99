"""Files on their way in: fetched, checked, queued, read, kept, removed; each with its own line of status."""
