"""Embedded pictures with the words beside them."""
