"""What a page of a PDF holds: its lines, columns, tables, headings."""
