"""Commands that ask the files."""
