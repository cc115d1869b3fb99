"""`python -m tests.doubles`: Slack and Discord on this machine, a page to chat on, and the bot's settings."""

from __future__ import annotations

import argparse
import asyncio
import signal
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from tests.doubles import chats, page

if TYPE_CHECKING:
    from collections.abc import Sequence

PORT = 8810


async def run(platforms: Sequence[str], port: int) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        opened: dict[str, chats.Chat] = {}
        for number, platform in enumerate(platforms, 1):
            opened[platform] = await stack.enter_async_context(chats.serve(platform, port and port + number))
        address = await stack.enter_async_context(page.serve(opened, port))
        settings = [
            f"{name}={value}" for chat in opened.values() for name, value in chat.environment().items()
        ]
        print(f"Chat at {address}\n\nStart the bot in another terminal:\n", flush=True)
        print(" \\\n".join([*settings, "footnote run"]), flush=True)
        print("\nCtrl-C ends it; nothing is kept.", flush=True)
        await stop.wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.doubles", description=__doc__)
    parser.add_argument("--platform", choices=chats.PLATFORMS, help="only this one; both without it")
    parser.add_argument(
        "--port",
        type=int,
        default=PORT,
        help="of the page, the platforms follow; 0: any (default: %(default)s)",
    )
    arguments = parser.parse_args()
    platforms = [arguments.platform] if arguments.platform else chats.PLATFORMS
    asyncio.run(run(platforms, arguments.port))


if __name__ == "__main__":
    main()
