"""One file from its bytes to searchable chunks."""
