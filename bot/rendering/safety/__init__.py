"""Links and pings: what may be shown as one."""
