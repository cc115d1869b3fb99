"""Questions that are computed over tables: counts, sums, filters, groups, dates, joins, top n, lookups and what is not there."""
