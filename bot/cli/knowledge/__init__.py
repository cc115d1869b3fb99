"""Commands that say what is searched."""
