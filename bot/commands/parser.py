from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.commands import registry
from bot.commands.specs import QUESTIONS, short_usage, usage
from bot.messages.refusals import Invalid
from bot.port import SERVER, WORKSPACE
from rag_engine.text.legibility import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.port import Command, CommandSpec, Option

_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "‘": "’"}
_WORD = re.compile(r"<[^<>]*>|\S+")
_URL = re.compile(r"<?(https?://[^|>\s]+)(?:\|[^>]*)?>?")
_NAMED = re.compile(r"(?:--)?(\w+)[:=](.+)", re.DOTALL)
_NAME = re.compile(r"(?:--)?\w+[:=](?=[\"'“„«‘])")
_WHOLE_LINES = frozenset({"persona", "empty"})
_PUBLICLY = re.compile(r"(?:channel:|--channel\b)\s*", re.IGNORECASE)
_ASK_OPTION = re.compile(
    r"(?:(?P<named>model|scope|file(?=[:=][^\s/])|type|after|tag|web|full|table|tools)[:=](?=\S)"
    r"|--(?P<dashed>model|scope|file|type|after|tag|web|full|table|tools)(?:[:=]|\s+))"
    r"(?:[\"“„](?P<quoted>[^\"“”„]+)[\"“”]|(?P<word>\S+))\s*",
    re.IGNORECASE,
)
_SYNONYMS = {
    "delete": "remove",
    "rm": "remove",
    "ls": "list",
    "info": "show",
    "set": "settings",
    "new": "create",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    spec: CommandSpec
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    quoted: bool = False
    complete: bool = False
    """It ended with a quotation mark."""


def parse(command: Command) -> Parsed:
    """Raises a `UserError` with the nearest command or the usage."""
    spec, line = _spec(command)
    if command.values:
        values = {name: value.strip() for name, value in command.values.items() if value.strip()}
    elif spec.name in QUESTIONS:
        values = _question(line)
    else:
        values = _values(spec, _tokens(line))
    return Parsed(spec=spec, values=_checked(spec, values))


def _spec(command: Command) -> tuple[CommandSpec, str]:
    by_name, platform = registry.commands(), command.place.platform
    name = command.name.strip().lstrip("/").casefold()
    line = command.line.strip()
    if name in by_name:
        return registry.spec_on(platform, name), line
    first, _, rest = line.partition(" ")
    word = first.casefold() or "help"
    full = f"{name} {_SYNONYMS.get(word, word)}"
    if full in by_name:
        return registry.spec_on(platform, full), rest.strip()
    raise _unknown(f"{name} {word}" if " " not in name else name, platform)


def _unknown(name: str, platform: str) -> Invalid:
    commands = registry.commands()
    group, _, word = name.rpartition(" ")
    of_group = {full.rpartition(" ")[2]: full for full in commands if full.rpartition(" ")[0] == group}
    if near := difflib.get_close_matches(word, list(of_group), n=1, cutoff=0.6):
        return Invalid("command_meant", usage=short_usage(registry.spec_on(platform, of_group[near[0]])))
    return Invalid("no_such_command")


def _question(line: str) -> dict[str, str]:
    values: dict[str, str] = {}
    while option := _PUBLICLY.match(line) or _ASK_OPTION.match(line):
        line = line[option.end() :]
        if option.re is _PUBLICLY:
            values["where"] = "channel"
        else:
            values[(option["named"] or option["dashed"]).casefold()] = option["quoted"] or option["word"]
    return {"question": line.strip(), **values} if line.strip() else values


def _tokens(line: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
            continue
        name = _NAME.match(line, at)
        start = name.end() if name else at
        end = line.find(_QUOTES[line[start]], start + 1) if line[start] in _QUOTES else -1
        if end > 0:
            text = line[start + 1 : end]
            tokens.append(_Token(f"{name[0]}{text}" if name else text, quoted=not name, complete=True))
            at = end + 1
            continue
        word = _WORD.match(line, at)
        if word is None:
            break
        tokens.append(_Token(word[0]))
        at = word.end()
    return tokens


def _values(spec: CommandSpec, tokens: Sequence[_Token]) -> dict[str, str]:
    options = {option.name: option for option in spec.options}
    values: dict[str, str] = {}
    words: list[_Token] = []
    waiting = list(tokens)
    while waiting:
        token = waiting.pop(0)
        open_options = {each: option for each, option in options.items() if each not in values}
        name, value = _recognised(token, open_options, waiting if spec.name == "kb settings" else [])
        if name:
            values[name] = value.text
            if name in _WHOLE_LINES and not value.complete:
                values[name] = " ".join((value.text, *(further.text for further in waiting)))
                waiting.clear()
        else:
            words.append(token)
    free = [option for option in spec.options if option.name not in values and _takes_words(option)]
    if words and not free:
        surplus = " ".join(token.text for token in words)
        raise Invalid("argument_surplus", words=surplus, usage=usage(spec))
    for option in free[:-1]:
        if words:
            values[option.name] = words.pop(0).text
    if words:
        values[free[-1].name] = " ".join(token.text for token in words)
    return values


def _recognised(token: _Token, options: Mapping[str, Option], following: list[_Token]) -> tuple[str, _Token]:
    if token.quoted:
        return "", token
    named = _NAMED.fullmatch(token.text)
    if named and named[1].casefold() in options:
        return named[1].casefold(), replace(token, text=named[2])
    word = token.text.casefold().removeprefix("--")
    if following and word in options:
        return word, following.pop(0)
    url = _URL.fullmatch(token.text)
    if url and "link" in options:
        return "link", replace(token, text=url[1])
    for name, option in options.items():
        choice = _choice(option, token.text)
        # "server" in the name of a knowledge base of Slack opens it to nobody.
        if not option.named and choice and token.text.casefold() in (choice, WORKSPACE):
            return name, replace(token, text=choice)
    return "", token


def _takes_words(option: Option) -> bool:
    return option.kind == "text" and not (option.choices or option.named) and option.name != "link"


def _checked(spec: CommandSpec, values: Mapping[str, str]) -> dict[str, str]:
    checked = dict(values)
    for option in spec.options:
        value = values.get(option.name, "")
        if option.required and not printable(value).strip():
            raise Invalid("argument_missing", usage=short_usage(spec))
        if value and option.choices:
            choice = _choice(option, value)
            checked[option.name] = WORKSPACE if choice == SERVER else choice
            if not choice:
                choices = ", ".join(f"`{choice}`" for choice in option.choices)
                raise Invalid("argument_wrong", option=option.name, choices=choices, value=value)
    return checked


def _choice(option: Option, word: str) -> str:
    name = word.casefold()
    twin = {WORKSPACE: SERVER, SERVER: WORKSPACE}.get(name, name)
    return next((each for each in option.choices if each in (name, twin)), "")
