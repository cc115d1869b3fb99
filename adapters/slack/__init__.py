"""Slack: events in by Socket Mode or HTTP, answers out as streams or edits."""

from adapters.slack.checking import check
from adapters.slack.manifest import setup
from adapters.slack.serving import run
from adapters.slack.settings import Settings

__all__ = ["Settings", "check", "run", "setup"]
