"""Tools that a language model may call: each module has `DESCRIPTION`, `Arguments` and `build(ports)`; `is_offered(query)` may limit it."""
