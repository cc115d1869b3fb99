"""Ports around others: breaker, cache, filter."""
