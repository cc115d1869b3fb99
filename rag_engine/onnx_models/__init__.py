"""What embedders and rerankers share."""
