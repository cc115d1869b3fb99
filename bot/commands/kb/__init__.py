"""`/kb …`: a module per command."""
