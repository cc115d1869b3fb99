"""The program as a process: its platforms side by side, its health, its end."""
