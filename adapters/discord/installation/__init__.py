"""Permissions, commands, and checks of `footnote doctor`."""
