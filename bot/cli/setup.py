"""`footnote setup`: what to paste or open once, so that Slack or Discord lets the bot in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands import SPECS
from bot.composition import loader

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings


EXAMPLE = """footnote setup slack > slack-manifest.yaml
footnote setup discord"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("platform", choices=("slack", "discord"))


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Discord needs its token for the invite link, Slack none."""
    platform = await loader.unset_platform(arguments.platform, settings)
    print(platform.module.setup(platform.settings, SPECS).rstrip("\n"))
    return 0
