"""Only this folder loads concrete parts."""
