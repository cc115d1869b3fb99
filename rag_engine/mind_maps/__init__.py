"""A document's headings as a tree, in text and as a picture."""
