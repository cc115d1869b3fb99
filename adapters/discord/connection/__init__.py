"""The gateway connection."""
