"""Discord, by discord.py: questions in channels, threads and direct messages; commands, buttons and files."""

from adapters.discord.checks import check
from adapters.discord.needs import setup
from adapters.discord.serving import run
from adapters.discord.settings import Settings

__all__ = ["Settings", "check", "run", "setup"]
