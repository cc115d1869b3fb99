"""A real Elasticsearch for the tests: nodes and clusters of our own, and a proxy in front that makes trouble."""
