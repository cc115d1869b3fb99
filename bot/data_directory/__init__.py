"""Who uses a data directory, and how its content is replaced."""
