"""Commands that show how good the answers are, and why."""
