"""`footnote serve`: answer programs over HTTP: OpenAI's chat completions at /v1, MCP at /mcp."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from bot.composition import application as composition
from bot.maintenance import data_files
from bot.process import allocator
from bot.store.api_keys import ApiKeys
from rag_engine.errors import MissingExtra
from rag_engine.storage.sqlite.database import connect

if TYPE_CHECKING:
    from bot.settings import Settings

EXAMPLE = """footnote serve --port 8320
footnote keys create wiki-search --kb handbook"""

MISSING = "This needs the libraries of an extra: pip install 'footnote-bot[server]'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    parser.add_argument(
        "--port", type=_port, default=8320, metavar="N", help="the port (8320); 0: a free one"
    )


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError("must be a number from 0 to 65535")
    return int(text)


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    allocator.return_large_blocks()
    try:
        from bot.server import http
    except ModuleNotFoundError as error:
        raise MissingExtra(MISSING) from error
    path = settings.data_dir / data_files.CHAT
    async with (
        composition.application(settings) as application,
        connect(path, scripts=data_files.migrations()[data_files.CHAT]) as database,
    ):
        web = http.web_application(application, ApiKeys(database), at_once=settings.chat.answers)
        with http.listening(arguments.host, arguments.port) as found:
            host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
            port = found.getsockname()[1]
            print(f"Serving http://{host}:{port}/v1 and /mcp; Ctrl-C ends it.", flush=True)
            await http.server(web).serve(sockets=[found])
    return 0
