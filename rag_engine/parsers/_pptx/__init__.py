"""What a presentation holds."""
