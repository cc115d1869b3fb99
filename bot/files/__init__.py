"""Files of messages: queue, download, upload status, originals."""
