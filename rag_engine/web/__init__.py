"""The public web: finding pages by a provider, fetching them safely and reading them like files."""
