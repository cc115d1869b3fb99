"""Whether the passages found can answer the question. Pure."""
