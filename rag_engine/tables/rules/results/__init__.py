"""What is computed of the rows: sums, counts, extremes, shares, lists."""
