from __future__ import annotations

import importlib
import pkgutil
import sys
from functools import cache
from typing import TYPE_CHECKING, cast

from bot.messages.workspace_names import has_servers
from bot.port import for_servers

if TYPE_CHECKING:
    from bot.commands.specs import SlashCommand
    from bot.port import CommandSpec


@cache
def commands() -> dict[str, SlashCommand]:
    found: list[SlashCommand] = []
    package = __name__.rpartition(".")[0]
    for module in pkgutil.walk_packages(sys.modules[package].__path__, f"{package}."):
        content = importlib.import_module(module.name)
        found += cast("tuple[SlashCommand, ...]", getattr(content, "COMMANDS", ()))
    return {command.spec.name: command for command in sorted(found, key=lambda command: command.position)}


def specs() -> tuple[CommandSpec, ...]:
    return tuple(command.spec for command in commands().values())


def spec_on(platform: str, name: str) -> CommandSpec:
    """In the words of the platform."""
    spec = commands()[name].spec
    return for_servers(spec) if has_servers(platform) else spec
