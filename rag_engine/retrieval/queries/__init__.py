"""What is searched for."""
