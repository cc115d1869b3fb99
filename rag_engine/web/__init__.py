"""Finds pages, fetches them safely and reads them like files."""
