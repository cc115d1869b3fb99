from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from bot.cli.operation._setup import env_file, prompts
from bot.commands import SPECS
from bot.composition import loader
from bot.port import ChatError
from bot.settings.platforms import PlatformSlice, platforms
from rag_engine.errors import RagError, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.composition.loader import Platform
    from bot.port import Credential, Finding, Installation
    from bot.settings import Settings

_SECONDS: Final = 60.0
_NONE: Final = "none: ask in the terminal only"
_STYLES: Final = {"ok": "green", "note": "yellow", "bad": "red"}


async def set_up(settings: Settings) -> None:
    prompts.show("Step 1: where people ask", style="bold")
    ready = [name for name in loader.platform_names(settings) if not await _needed(name, settings)]
    done = " and ".join(name.title() for name in ready)
    if done and not await prompts.agrees(f"{done} is set up already. Set up another one", default=False):
        return
    names = [name for name in _names() if await _installation(name, settings)]
    chosen = await prompts.choose("Platform", [*(name.title() for name in names), _NONE])
    if chosen < len(names):
        await _install(names[chosen], settings)
    else:
        prompts.show("\nStep 2 is skipped: it sets up a chat platform.")


async def _install(name: str, settings: Settings) -> None:
    platform = await loader.unset_platform(name, settings)
    installation = await _installation(name, settings)
    if installation is None:
        return
    prompts.show(f"\nStep 2: the app at {name.title()}", style="bold")
    if installation.file:
        text = platform.module.setup(platform.settings, SPECS)
        try:
            await asyncio.to_thread(Path(installation.file).write_text, text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"{installation.file} cannot be written here: {error.strerror}.") from error
    prompts.show(installation.first)
    typed, findings = await _credentials(name, installation, settings)
    if typed:
        _keep({_variables(name)[setting]: value for setting, value in typed.items()})
    if not installation.file:
        known = await _with(name, settings, typed)
        prompts.show(known.module.setup(known.settings, SPECS).rstrip())
    await _own_workspaces(findings, settings)


def _keep(values: Mapping[str, str]) -> None:
    env_file.write(values)
    prompts.show("Kept in .env, which only you can read.", style="green")
    for variable, value in values.items():
        if os.environ.get(variable, value) != value:
            prompts.show(
                f"The environment sets {variable} too, and wins over .env: unset it there.", style="yellow"
            )


def _variables(name: str) -> Mapping[str, str]:
    return next(each.variables for each in platforms() if each.name == name)


def _names() -> list[str]:
    return sorted((declared.name for declared in platforms()), reverse=True)


async def _installation(name: str, settings: Settings) -> Installation | None:
    module = (await loader.unset_platform(name, settings)).module
    return cast("Installation | None", getattr(module, "INSTALLATION", None))


async def _needed(name: str, settings: Settings) -> list[Credential]:
    installation = await _installation(name, settings)
    known = settings.platforms[name].rest()
    needed = installation.credentials if installation is not None else ()
    return [each for each in needed if not known.get(each.setting) and not known.get(each.unless)]


async def _credentials(
    name: str, installation: Installation, settings: Settings
) -> tuple[dict[str, str], list[Finding]]:
    needed, typed = await _needed(name, settings), dict[str, str]()
    for each in installation.credentials:
        if each not in needed:
            prompts.show(f"The {each.name} is set already ({_variables(name)[each.setting]}).")
    while True:
        for each in needed:
            typed[each.setting] = await _credential(each)
        prompts.show("Asking the platform …")
        findings = await _checked(name, settings, typed)
        needed = [
            each
            for each in installation.credentials
            if any(finding.refused == each.setting for finding in findings)
        ]
        if needed:
            refused = " and ".join(each.name for each in needed)
            prompts.show(f"Not accepted: {refused}. Type it again; an empty answer stops.", style="red")
        elif any(finding.state == "ok" for finding in findings):
            return typed, findings
        elif not await _is_tried_again(name):
            return typed, []


async def _is_tried_again(name: str) -> bool:
    prompts.show(
        f"This could not be checked, because {name.title()} does not answer: see whether this computer reaches it.",
        style="yellow",
    )
    if await prompts.agrees("Try again", default=True):
        return True
    prompts.show("It goes on unchecked: `footnote doctor` checks it later.")
    return False


async def _credential(credential: Credential) -> str:
    prompts.show(credential.where)
    while True:
        value = await prompts.ask_secret(credential.name)
        if not value:
            raise prompts.NoAnswer
        if credential.pattern.fullmatch(value):
            return value
        prompts.show(f"That is not the {credential.name}: {credential.looks}.", style="red")


async def _checked(name: str, settings: Settings, typed: Mapping[str, str]) -> list[Finding]:
    findings: list[Finding] = []
    try:
        platform = await _with(name, settings, typed)
        async with (
            asyncio.timeout(_SECONDS),
            aclosing(platform.module.check(platform.settings, SPECS)) as found,
        ):
            async for finding in found:
                findings.append(finding)
                _show(finding)
    except (ChatError, RagError, TimeoutError) as error:
        prompts.show(f"No answer: {error or 'it took too long'}", style="red")
    return findings


def _show(finding: Finding) -> None:
    prompts.show(f"{finding.state:4} {finding.check}: {finding.detail}", style=_STYLES[finding.state])
    if finding.remedy and finding.state != "ok":
        prompts.show(f"     → {finding.remedy}")


async def _with(name: str, settings: Settings, typed: Mapping[str, str]) -> Platform:
    slices = {**settings.platforms, name: PlatformSlice(**{**settings.platforms[name].rest(), **typed})}
    return await loader.platform(name, settings.model_copy(update={"platforms": slices}))


async def _own_workspaces(findings: Sequence[Finding], settings: Settings) -> None:
    servers = [finding for finding in findings if finding.invited and finding.workspace]
    own = [*settings.access.workspaces]
    for server in servers:
        if server.workspace not in own and await prompts.agrees(
            f"{server.check.rpartition(' in ')[2]} is yours, and may ask about the documents that are added here",
            default=True,
        ):
            own.append(server.workspace)
    if servers and own:
        env_file.write({"FOOTNOTE_ACCESS__WORKSPACES": ",".join(own)})
