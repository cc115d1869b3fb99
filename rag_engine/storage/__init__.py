"""Knowledge bases, documents, history and jobs in SQLite."""
