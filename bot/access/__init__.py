"""Who may do what, and which knowledge bases a place may search."""
