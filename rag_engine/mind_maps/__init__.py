"""The headings of a document as a tree, in text and as a picture."""
