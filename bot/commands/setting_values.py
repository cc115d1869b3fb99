from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bot.messages.refusals import Invalid
from bot.port import Option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.store.places import PlaceSettings

MOST_PERSONA: Final = 1_000
MOST_EMPTY: Final = 500
_LANGUAGE: Final = re.compile(r"[a-z]{2}")
_FIELDS: Final = {
    "mode": "mode",
    "knowledge": "knowledge",
    "language": "language",
    "persona": "persona",
    "model": "model",
    "temperature": "temperature",
    "empty": "empty_answer",
    "citations": "citations",
    "route": "route",
    "web": "web",
    "tools": "tools",
    "messages": "messages",
}

OPTIONS: Final = (
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
    Option(name="persona", description="Tone and role of answers, in a few sentences; off: none", named=True),
    Option(name="model", description="The language model that answers, of those set up", named=True),
    Option(name="temperature", description="From 0 (the same again) to 2 (varied)", named=True),
    Option(name="empty", description="What I say when I find nothing; off: the usual sentence", named=True),
    Option(
        name="citations", description="Whether answers name their sources", choices=("on", "off"), named=True
    ),
    Option(
        name="route",
        description="Search the files (auto), or only chat with the language model",
        choices=("auto", "chat"),
        named=True,
    ),
    Option(
        name="web",
        description="Whether I read the web: never, when a question says web:yes, or also if the files do not answer",
        choices=("off", "ask", "auto"),
        named=True,
    ),
    Option(
        name="tools",
        description="Which tools the language model may call: none, mine, or also those of the operator",
        choices=("off", "on", "all"),
        named=True,
    ),
    Option(
        name="messages",
        description="Whether I also search the messages of public channels (Slack)",
        choices=("off", "on"),
        named=True,
    ),
    Option(
        name="reset",
        description="The setting that becomes the default again, or all",
        choices=(*_FIELDS, "all"),
        named=True,
    ),
)


def applied(
    current: PlaceSettings,
    values: Mapping[str, str],
    *,
    defaults: PlaceSettings,
    models: Sequence[str],
    has_model: bool,
    has_web: bool,
    has_messages: bool,
) -> PlaceSettings:
    changes: dict[str, Any] = {}
    if reset := values.get("reset", ""):
        names = [_FIELDS[reset]] if reset != "all" else [*_FIELDS.values()]
        changes = {name: getattr(defaults, name) for name in names}
    for name, value in values.items():
        if name in _FIELDS:
            if name == "messages" and value != "off" and not has_messages:
                raise Invalid("messages_not_searched")
            changes[_FIELDS[name]] = _value(name, value, models=models, has_model=has_model, has_web=has_web)
    return replace(current, **changes)


def _value(name: str, value: str, *, models: Sequence[str], has_model: bool, has_web: bool) -> object:
    match name:
        case "language":
            return _language(value)
        case "persona":
            return _limited(value, MOST_PERSONA)
        case "empty":
            return _limited(value, MOST_EMPTY)
        case "model":
            return model_label(value, models)
        case "temperature":
            return _temperature(value)
        case "citations":
            return value == "on"
        case "route" if value == "chat" and not has_model:
            raise Invalid("chat_needs_model")
        case "tools" if value != "off" and not has_model:
            raise Invalid("tools_need_model")
        case "web" if value != "off" and not has_web:
            raise Invalid("web_needs_provider")
        case _:
            return value


def model_label(value: str, models: Sequence[str]) -> str:
    if not models:
        raise Invalid("models_none")
    label = value.strip().casefold()
    if label not in models:
        raise Invalid("model_unknown", model=value, models=", ".join(f"`{model}`" for model in models))
    return label


def _language(value: str) -> str:
    value = value.strip().casefold()
    if value in ("auto", "any", "question"):
        return ""
    if not _LANGUAGE.fullmatch(value):
        raise Invalid("language_unusable")
    return value


def _temperature(value: str) -> float:
    try:
        temperature = float(value.replace(",", "."))
    except ValueError:
        temperature = math.nan
    if not 0 <= temperature <= 2:  # also refuses nan
        raise Invalid("temperature_unusable")
    return abs(temperature)  # also of -0


def _limited(value: str, most: int) -> str:
    """Empty for "off", and for what nobody would see."""
    text = value.strip()
    if text.casefold() == "off" or not any(letter.isprintable() and not letter.isspace() for letter in text):
        return ""
    if len(text) > most:
        raise Invalid("setting_too_long", length=len(text), most=most)
    return text
