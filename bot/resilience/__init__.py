"""Circuit breakers, retries and fair limits."""
