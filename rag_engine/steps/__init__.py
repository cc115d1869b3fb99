"""Pipeline steps, one module each."""
