"""What parts of a question name: columns, values, numbers and periods."""
