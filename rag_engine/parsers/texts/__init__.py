"""Text, source code and markup."""
