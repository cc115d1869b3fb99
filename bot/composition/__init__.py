"""Settings to parts to a running program; only this folder loads concrete parts."""
