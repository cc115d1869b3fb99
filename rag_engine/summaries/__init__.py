"""With citations for every section."""
