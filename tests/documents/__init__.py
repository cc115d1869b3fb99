"""What must be read from the files of `../shared/docs`, its place in them, and questions about them."""
