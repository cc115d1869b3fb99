"""What OpenDocument files have in common."""
