"""Tables of documents as typed rows, computed over by one checked SELECT."""
