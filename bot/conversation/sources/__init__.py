"""The Sources button: the cited passages of an answer in their context."""
