"""Text with pages, slides or chapters."""
