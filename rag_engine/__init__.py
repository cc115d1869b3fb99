"""The engine: files in, answers with citations out. It knows nothing of chat platforms."""
