"""How hits are ordered and scored."""
