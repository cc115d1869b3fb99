"""Tools that the operator sets up: HTTP services, and servers of the Model Context Protocol."""
