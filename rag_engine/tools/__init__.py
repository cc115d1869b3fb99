"""Tools that a language model may call, one module each: `Arguments`, whose docstring tells the model what the tool does, and
`build(ports)`, which gives the function that runs it, or None if it cannot be used; `is_offered(query)` may limit it."""
