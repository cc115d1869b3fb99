"""What must be read from the files of `../shared/docs`, where it stands in them, and questions about them."""
