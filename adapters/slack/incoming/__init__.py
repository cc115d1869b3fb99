"""From Slack to the service: messages, interactions, files."""
