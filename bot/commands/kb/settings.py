from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bot.commands.context import reply
from bot.commands.dependencies import MODEL_SEPARATOR, QUOTING
from bot.commands.setting_values import OPTIONS, applied
from bot.commands.specs import kb_command
from bot.rendering.literal import literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import CommandContext
    from bot.messages.names import Sentence
    from bot.port import Reply
    from bot.store.places import Mode, PlaceSettings, Policy

_MODES: Mapping[Mode, Sentence] = {"mention": "mode_mention", "thread": "mode_thread", "auto": "mode_auto"}
_POLICIES: Mapping[Policy, Sentence] = {"strict": "knowledge_strict", "blended": "knowledge_blended"}


async def settings(use: CommandContext) -> Reply:
    places = use.dependencies.places
    if not use.values:
        return reply(_described(use, await places.settings(use.place), "settings_heading"))
    await use.dependencies.access.check(use.person, use.place, use.directory, act="administer")
    models = (await use.dependencies.facts())["language model"].split(MODEL_SEPARATOR)
    if use.values.get("reset") == "all" and len(use.values) == 1:
        changed = await places.reset(use.place)
    else:
        edit = partial(
            applied,
            values=use.values,
            defaults=places.defaults,
            models=use.dependencies.models,
            has_model=models[0] != QUOTING,
            has_web=use.dependencies.has_web,
            has_messages=use.room.finds_messages,
        )
        before = await places.settings(use.place)
        if edit(before).tools == "all" != before.tools:
            # They act with the operator's keys.
            await use.dependencies.access.check_administers(use.person, use.place, use.directory)
        changed = await places.change(use.place, edit)
    use.audit("settings")
    return reply(_described(use, changed, "settings_changed"))


def _described(use: CommandContext, settings: PlaceSettings, heading: Sentence) -> str:
    mode = use.say("setting_mode", mode=settings.mode, meaning=use.say(_MODES[settings.mode]))
    meaning = use.say(_POLICIES[settings.knowledge])
    knowledge = use.say("setting_knowledge", knowledge=settings.knowledge, meaning=meaning)
    language = use.say("setting_language_auto")
    if settings.language:
        language = use.say("setting_language", language=settings.language)
    lines = [mode, knowledge, language, *_chosen(use, settings)]
    return "\n".join((use.say(heading), "", *(f"- {line}" for line in lines)))


def _chosen(use: CommandContext, settings: PlaceSettings) -> list[str]:
    lines: list[str] = []
    if settings.persona:
        lines.append(use.say("setting_persona", persona=literal(settings.persona)))
    if settings.model:
        lines.append(use.say("setting_model", model=settings.model))
    if settings.temperature is not None:
        lines.append(use.say("setting_temperature", temperature=f"{settings.temperature:g}"))
    if settings.empty_answer:
        lines.append(use.say("setting_empty", text=literal(settings.empty_answer)))
    if not settings.citations:
        lines.append(use.say("setting_citations_off"))
    if settings.route == "chat":
        lines.append(use.say("setting_route_chat"))
    if settings.web != "off":
        lines.append(use.say("setting_web_ask" if settings.web == "ask" else "setting_web_auto"))
    if settings.tools != "off":
        lines.append(use.say("setting_tools_on" if settings.tools == "on" else "setting_tools_all"))
    if settings.messages == "on":
        lines.append(use.say("setting_messages_on"))
    return lines


COMMANDS = (
    kb_command(
        "settings",
        "How I behave in this channel: show it, or change it",
        *OPTIONS,
        position=190,
        summary="command_kb_settings",
        execute=settings,
    ),
)
