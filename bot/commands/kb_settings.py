from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from bot.commands.context import reply
from bot.commands.specs import kb_command
from bot.messages.refusals import Invalid
from bot.port import Option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import CommandContext
    from bot.messages.names import Sentence
    from bot.port import Reply
    from bot.store.places import Mode, PlaceSettings, Policy

_LANGUAGE = re.compile(r"[a-z]{2}")
_MODES: Mapping[Mode, Sentence] = {"mention": "mode_mention", "thread": "mode_thread", "auto": "mode_auto"}
_POLICIES: Mapping[Policy, Sentence] = {"strict": "knowledge_strict", "blended": "knowledge_blended"}


async def settings(use: CommandContext) -> Reply:
    current = await use.desk.places.settings(use.place)
    if not use.values:
        return reply(_described(use, current, "settings_heading"))
    await use.desk.access.check(use.person, use.place, use.directory, act="administer")
    changed = replace(
        current,
        mode=cast("Mode", use.values.get("mode", current.mode)),
        knowledge=cast("Policy", use.values.get("knowledge", current.knowledge)),
        language=_language(use.values["language"]) if "language" in use.values else current.language,
    )
    await use.desk.places.change(use.place, changed)
    use.audit("settings")
    return reply(_described(use, changed, "settings_changed"))


def _described(use: CommandContext, settings: PlaceSettings, heading: Sentence) -> str:
    mode = use.say("setting_mode", mode=settings.mode, meaning=use.say(_MODES[settings.mode]))
    meaning = use.say(_POLICIES[settings.knowledge])
    knowledge = use.say("setting_knowledge", knowledge=settings.knowledge, meaning=meaning)
    language = use.say("setting_language_auto")
    if settings.language:
        language = use.say("setting_language", language=settings.language)
    return "\n".join((use.say(heading), "", f"- {mode}", f"- {knowledge}", f"- {language}"))


def _language(value: str) -> str:
    value = value.strip().casefold()
    if value in ("auto", "any", "question"):
        return ""
    if not _LANGUAGE.fullmatch(value):
        raise Invalid("language_unusable")
    return value


COMMANDS = (
    kb_command(
        "settings",
        "How I behave in this channel: show it, or change it",
        Option(
            name="mode",
            description="When I answer: when mentioned; also in threads I am in; every question in the channel",
            choices=("mention", "thread", "auto"),
        ),
        Option(
            name="knowledge",
            description="Answers from the files alone, or with general knowledge, marked as such",
            choices=("strict", "blended"),
        ),
        Option(
            name="language",
            description="The language of answers, as two letters (de); auto: that of the question",
        ),
        position=190,
        summary="command_kb_settings",
        execute=settings,
    ),
)
