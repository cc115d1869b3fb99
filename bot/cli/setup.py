"""`footnote setup PLATFORM`: what has to be pasted or opened once, so that the platform lets the bot in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import parts
from bot.commands import SPECS

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print it. Slack needs no token for that; Discord tells the invite link once there is one."""
    platform = await parts.unset_platform(arguments.platform, settings)
    print(platform.module.setup(platform.settings, SPECS).rstrip("\n"))
    return 0
