"""Discord, by discord.py: messages, commands, buttons and files."""

from adapters.discord.app import run
from adapters.discord.installation.credentials import INSTALLATION
from adapters.discord.installation.doctor import check
from adapters.discord.installation.required_permissions import setup
from adapters.discord.settings import Settings

VARIABLES = {
    "token": "DISCORD_TOKEN",
    "api_base": "DISCORD_API_BASE",
    "gateway_url": "DISCORD_GATEWAY_URL",
}

__all__ = ["INSTALLATION", "Settings", "check", "run", "setup"]
