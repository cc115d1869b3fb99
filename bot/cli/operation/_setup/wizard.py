"""Each step is kept at once: the next run goes on after Ctrl-C."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from bot import settings as bot_settings
from bot.cli import _parser
from bot.cli.operation._setup import chat_platform, env_file, language_model, prompts
from bot.composition import loader
from bot.composition.storage import storage as open_storage
from bot.observability import log
from rag_engine.errors import RagError, UserError

if TYPE_CHECKING:
    from bot.settings import Settings

_STOPPED: Final = "Stopped. What was accepted is in .env: `footnote setup` goes on from there."


async def run() -> int:
    if not (sys.stdin and sys.stdin.isatty()):
        raise UserError(
            "The wizard needs a terminal. Without one: `footnote setup slack`, `discord` or `model`."
        )
    prompts.show(
        "Footnote: six steps to an answer in your channel. Ctrl-C stops, and nothing typed is lost.\n"
    )
    try:
        await chat_platform.set_up(bot_settings.read())
        await language_model.set_up(bot_settings.read())
        await _documents(bot_settings.read())
        await _question(bot_settings.read())
    except prompts.NoAnswer:
        prompts.show(f"\n{_STOPPED}")
        return 1
    return await _start(bot_settings.read())


async def _documents(settings: Settings) -> None:
    prompts.show("\nStep 4: documents", style="bold")
    async with open_storage(settings) as storage:
        bases = await storage.catalog.knowledge_bases()
        count = sum([len(await storage.catalog.records(base.id)) for base in bases])
    if count:
        prompts.show(f"Already there: {count}.")
    while path := await prompts.ask("A folder or file to read (empty: go on)"):
        await _tried(["add", "--", os.path.expanduser(path)], settings)  # noqa: PTH111, ASYNC240 - of a line that was typed
    is_closed = bool(loader.platform_names(settings)) and not settings.access.everywhere
    if is_closed and await prompts.agrees("May all who can ask the bot ask about them", default=True):
        env_file.write({"FOOTNOTE_ACCESS__EVERYWHERE": "default"})


async def _question(settings: Settings) -> None:
    prompts.show("\nStep 5: a first question", style="bold")
    while question := await prompts.ask("A question about the documents (empty: go on)"):
        await _tried(["ask", "--", question], settings)


async def _start(settings: Settings) -> int:
    prompts.show("\nStep 6: start", style="bold")
    if not loader.platform_names(settings):
        prompts.show("No chat platform is set up: `footnote chat` asks in this terminal.")
        return 0
    prompts.show("Invite the bot to a channel, mention it there, and ask.")
    if await prompts.agrees("Start it now? Ctrl-C ends it", default=True):
        log.configure(settings.log_level, service=True)
        return await _tried(["run"], settings)
    prompts.show("`footnote run` starts it.")
    return 0


async def _tried(argv: list[str], settings: Settings) -> int:
    arguments, command = _parser.parse(argv)
    try:
        return await command.run(arguments, settings) if command is not None else 1
    except RagError as error:
        prompts.show(str(error), style="red")
        return 1
