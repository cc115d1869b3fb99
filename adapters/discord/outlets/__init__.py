"""Channel messages and interaction replies."""
