"""Small files of every format, a module for each family."""
