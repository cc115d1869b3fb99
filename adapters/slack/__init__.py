"""Slack: events by Socket Mode or HTTP, answers as streams or edits."""

from adapters.slack.app import run
from adapters.slack.installation.credentials import INSTALLATION
from adapters.slack.installation.doctor import check
from adapters.slack.installation.manifest import setup
from adapters.slack.settings import Settings

VARIABLES = {
    "bot_token": "SLACK_BOT_TOKEN",
    "app_token": "SLACK_APP_TOKEN",
    "signing_secret": "SLACK_SIGNING_SECRET",
    "api_base_url": "SLACK_API_BASE_URL",
}

__all__ = ["INSTALLATION", "Settings", "check", "run", "setup"]
