"""Queue, download, upload status, originals."""
