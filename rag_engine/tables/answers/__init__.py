"""Questions that are answered by computing over tables."""
