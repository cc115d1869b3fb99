"""One message from its arrival to the final edit of its answer."""
