"""What an RTF document holds."""
