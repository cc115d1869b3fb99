"""`footnote page`: print a one-time link that signs the operator in to the page of the running bot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.maintenance import data_files
from bot.store.web_sessions import LINK_MINUTES, OPERATOR, SignInLinks, WebSessions
from rag_engine.errors import BadSettings
from rag_engine.storage.sqlite.database import connect

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings

EXAMPLE = """footnote page
footnote page --sign-out-everyone"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sign-out-everyone",
        action="store_true",
        help="end all sessions and links instead of printing a link",
    )


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    path = settings.data_dir / data_files.CHAT
    async with connect(path, scripts=data_files.migrations()[data_files.CHAT]) as database:
        sessions = WebSessions(database)
        if arguments.sign_out_everyone:
            await sessions.end_all()
            print("Everyone is signed out of the page.")
            return 0
        port = settings.web.port
        if not (port or settings.web.url):
            raise BadSettings("Set FOOTNOTE_WEB__PORT, and start the bot with it: then it serves the page.")
        links = SignInLinks(sessions, settings.web.address(port or 0))
        print(await links.link(OPERATOR))
        print(f"It signs you in once, within {LINK_MINUTES} minutes, while `footnote run` serves the page.")
    return 0
