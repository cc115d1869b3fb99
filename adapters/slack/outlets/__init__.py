"""Our messages in Slack: streams, edits, private replies."""
