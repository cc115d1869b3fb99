"""Pure functions on rankings."""
