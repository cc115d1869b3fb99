"""Permissions, manifest, and checks of `footnote doctor`."""
