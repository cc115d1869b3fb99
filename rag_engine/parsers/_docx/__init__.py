"""What a Word document holds."""
