"""Backup, restore, index rebuild and erasure."""
