"""What knowledge bases may have beside their passages: summaries and questions, and graphs."""
