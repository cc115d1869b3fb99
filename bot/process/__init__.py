"""The operating-system process: supervisor, signals, watchdog."""
