"""Trees of values: JSON, YAML, TOML, XML, notebooks."""
