"""The page for administrators: server-rendered, without scripts. A view is one module with its template."""
