"""A data directory: who uses it, who has its index alone, and how its content is replaced in one step."""
