"""`footnote doctor`: what is set up, what is wrong and how to fix it."""

from __future__ import annotations

import asyncio
import json
import platform
import time
from contextlib import aclosing
from typing import TYPE_CHECKING

from rich.text import Text

from bot.access.readability import is_made_in_chat
from bot.cli._shared import options, terminal
from bot.commands import SPECS
from bot.composition import application as composition
from bot.composition import loader
from bot.composition.storage import storage as open_storage
from bot.data_directory import private_directory
from bot.maintenance.erasure import marks
from bot.observability import log
from bot.port import ChatError, Finding
from bot.store import retention_clock
from rag_engine.errors import RagError
from rag_engine.parsing import tesseract
from rag_engine.parsing.pool import parser_pool
from rag_engine.text import tokens
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from rich.console import Console

    from bot.settings import Settings
    from rag_engine.ports import LanguageModel

EXAMPLE = "footnote doctor"

_SECONDS = 60
_STYLES = {"ok": "green", "note": "yellow", "bad": "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_json(parser, "[{check, state, detail, fix}]")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    findings: list[Finding] = []
    console = terminal.console()
    async for finding in _findings(settings):
        findings.append(finding)
        if not arguments.json:
            _print(finding, console)
    if arguments.json:
        print(json.dumps([_as_json(finding) for finding in findings], ensure_ascii=False, indent=2))
    return 1 if any(finding.state == "bad" for finding in findings) else 0


def _as_json(finding: Finding) -> dict[str, str]:
    return {
        "check": finding.check,
        "state": finding.state,
        "detail": finding.detail,
        "fix": finding.remedy,
    }


async def _findings(settings: Settings) -> AsyncGenerator[Finding]:
    yield Finding(check="settings", state="ok", detail=f"read; Python {platform.python_version()}")
    if (exposed := await permissions(settings)) is not None:
        yield exposed
    checks: dict[str, Callable[[Settings], Awaitable[Finding]]] = {
        "data directory": _data_directory,
        "reading of files": _reading,
        "text recognition": text_recognition,
        "embedder and index": _embedder_and_index,
        "sources": _sources,
        "language model": _language_model,
        "token counting": _token_counting,
    }
    for check, examine in checks.items():
        try:
            async with asyncio.timeout(_SECONDS):
                yield await examine(settings)
        except TimeoutError:
            yield Finding(check=check, state="bad", detail=f"no answer within {_SECONDS} seconds")
        except Exception as error:
            cause = log.unwrapped(error)
            detail = str(cause) if isinstance(cause, RagError) else log.report(cause)
            yield Finding(check=check, state="bad", detail=detail)
    found: list[Finding] = []
    async for finding in _platforms(settings):
        found.append(finding)
        yield finding
    async for finding in _operators_knowledge(settings, found):
        yield finding


async def _operators_knowledge(settings: Settings, found: Sequence[Finding]) -> AsyncGenerator[Finding]:
    closed = [each for each in found if each.invited and each.workspace not in settings.access.workspaces]
    if not closed:
        return
    async with open_storage(settings) as storage:
        bases = [base for base in await storage.catalog.knowledge_bases() if not is_made_in_chat(base)]
    if not bases:
        return
    ids = [each.workspace for each in found if each.workspace]
    servers = ", ".join(each.workspace for each in closed)
    yield Finding(
        check="operator's knowledge bases",
        state="note",
        detail=f"{len(bases)} made by `footnote add` are closed to servers that FOOTNOTE_ACCESS__WORKSPACES does not list: {servers}",
        remedy="if all of these are yours, set FOOTNOTE_ACCESS__WORKSPACES="
        f"{','.join(dict.fromkeys([*settings.access.workspaces, *ids]))}; only listed ones are served then",
    )


async def _platforms(settings: Settings) -> AsyncGenerator[Finding]:
    names = loader.platform_names(settings)
    if not names:
        remedy = "set SLACK_BOT_TOKEN with SLACK_APP_TOKEN, or DISCORD_TOKEN (`footnote setup slack`, `footnote setup discord`)"
        detail = "no token is set, so `footnote run` starts the console"
        yield Finding(check="chat platforms", state="note", detail=detail, remedy=remedy)
    for name in names:
        try:
            async with asyncio.timeout(_SECONDS):
                platform = await loader.platform(name, settings)
                async with aclosing(platform.module.check(platform.settings, SPECS)) as findings:
                    async for finding in findings:
                        yield finding
        except TimeoutError:
            yield Finding(check=name, state="bad", detail=f"no answer within {_SECONDS} seconds")
        except Exception as error:
            cause = log.unwrapped(error)
            expected = isinstance(cause, RagError | ChatError)
            yield Finding(check=name, state="bad", detail=str(cause) if expected else log.report(cause))


async def _data_directory(settings: Settings) -> Finding:
    async with open_storage(settings) as storage:
        bases = await storage.catalog.knowledge_bases()
        waiting = await storage.queue.unfinished()
    detail = f"{settings.data_dir}, {len(bases)} knowledge base{'' if len(bases) == 1 else 's'}"
    unfinished = await asyncio.to_thread(marks.interrupted, settings.data_dir)
    if unfinished is not None:
        detail += f", `footnote forget` was interrupted at the {unfinished.subject}"
        remedy = "run it again: it continues where it stopped"
        return Finding(check="data directory", state="note", detail=detail, remedy=remedy)
    if ahead := await asyncio.to_thread(retention_clock.days_ahead, settings.data_dir):
        detail += (
            f", the clock of this machine is {ahead:.0f} days ahead of the last `footnote run` or `chat`"
        )
        remedy = (
            "correct the clock if it is wrong; else nothing: retention then catches up by one day an hour"
        )
        return Finding(check="data directory", state="note", detail=detail, remedy=remedy)
    if waiting:
        folders = sorted({str(job.path.parent) for job in waiting})
        remedy = f"repeat `footnote add {folders[0]}`" + (" and the others" if len(folders) > 1 else "")
        detail += f", {len(waiting)} files of an interrupted run are unfinished"
        return Finding(check="data directory", state="note", detail=detail, remedy=remedy)
    return Finding(check="data directory", state="ok", detail=detail)


async def _sources(settings: Settings) -> Finding:
    async with open_storage(settings) as storage:
        sources = await storage.sources.all()
    failing = [source for source in sources if source.error]
    if failing:
        detail = f"{failing[0].address}: {failing[0].error}"
        more = f" (and {len(failing) - 1} more)" if len(failing) > 1 else ""
        remedy = "`footnote source list` names all; what was read before stays"
        return Finding(check="sources", state="bad", detail=f"{detail}{more}", remedy=remedy)
    return Finding(check="sources", state="ok", detail=f"{len(sources)} that are read again and again")


async def permissions(settings: Settings) -> Finding | None:
    found = await asyncio.to_thread(private_directory.exposed, settings.data_dir)
    if not found:
        return None
    detail = f"other users of this machine can read {len(found)} of its files and folders, such as {found[0]}"
    remedy = f"`{private_directory.closing_command(settings.data_dir)}`; every other command does that for what Footnote made"
    return Finding(check="permissions of files", state="note", detail=detail, remedy=remedy)


async def _reading(settings: Settings) -> Finding:
    memory = settings.parsing.memory_mb
    async with parser_pool(workers=1, seconds=_SECONDS, memory_bytes=memory << 20) as pool:
        protection = await pool.protection()
    detail = f"each file in its own process, {memory} MB and {settings.parsing.seconds:g} s at most"
    if protection.complete:
        return Finding(check="reading of files", state="ok", detail=f"{detail}, sandboxed by {protection}")
    if protection.landlock or protection.seccomp:
        detail += f", sandboxed only by {protection} on this system"
    else:
        detail += ", not sandboxed by the kernel on this system"
    remedy = (
        "for untrusted files use Linux 5.13 or later on x86-64 or ARM, with Landlock and seccomp switched on, "
        "and not withheld by a container or a service manager"
    )
    return Finding(check="reading of files", state="note", detail=detail, remedy=remedy)


async def text_recognition(settings: Settings) -> Finding:
    check = "text recognition"
    found = await asyncio.to_thread(tesseract.find)
    if found is None or not (installed := tesseract.languages(found.installed)):
        detail = "Tesseract is not installed: scanned pages and pictures are not read, and people who add one are informed"
        remedy = f"{tesseract.install_command()} (and the data for the languages of your files); the bot finds it at once"
        return Finding(check=check, state="note", detail=detail, remedy=remedy)
    requested = settings.parsing.ocr_languages
    used = tesseract.chosen(found.installed, requested)
    detail = f"Tesseract {found.version} reads scans and pictures in {', '.join(used)}"
    if missing := [name for name in requested if name not in found.installed]:
        detail += f"; not installed, and named by FOOTNOTE_PARSING__OCR_LANGUAGES: {', '.join(missing)}"
        remedy = f"`{tesseract.install_command(missing)}`, or leave it out; installed: {', '.join(installed)}"
        return Finding(check=check, state="bad", detail=detail, remedy=remedy)
    if tesseract.ORIENTATION not in found.installed:
        remedy = f"`{tesseract.install_command([tesseract.ORIENTATION])}`"
        return Finding(
            check=check,
            state="note",
            detail=f"{detail}; pages that lie on their side are not read",
            remedy=remedy,
        )
    if len(installed) > tesseract.MOST_LANGUAGES and not requested:
        remedy = f"set FOOTNOTE_PARSING__OCR_LANGUAGES, such as eng,deu; up to {tesseract.MOST_LANGUAGES} are quick enough"
        return Finding(
            check=check,
            state="note",
            detail=f"{detail}, of {len(installed)} that are installed",
            remedy=remedy,
        )
    return Finding(check=check, state="ok", detail=detail)


async def _embedder_and_index(settings: Settings) -> Finding:
    started = time.perf_counter()
    async with composition.library(settings) as library:
        seconds = time.perf_counter() - started
        bases = await library.catalog.knowledge_bases()
        chunks = sum([await library.index.count(base.id) for base in bases])
        records = [record for base in bases for record in await library.catalog.records(base.id)]
        identity = library.identity
    expected = sum(record.chunks for record in records if record.state == "ready")
    if chunks != expected:
        detail = f"the {settings.index.kind} index holds {chunks} passages and the catalog {expected}"
        return Finding(
            check="embedder and index", state="bad", detail=detail, remedy="run `footnote kb reindex --all`"
        )
    kind = settings.index.kind
    detail = (
        f"{identity.model}, {identity.dimensions} dimensions; {kind} index, {chunks} passages,"
        f" open in {seconds:.1f} s"
    )
    if settings.elasticsearch_url and kind != "elasticsearch":
        remedy = "set FOOTNOTE_INDEX__KIND=elasticsearch and run `footnote kb reindex --all`, or remove ELASTICSEARCH_URL"
        detail += "; ELASTICSEARCH_URL is set and not used"
        return Finding(check="embedder and index", state="note", detail=detail, remedy=remedy)
    return Finding(check="embedder and index", state="ok", detail=detail)


async def _language_model(settings: Settings) -> Finding:
    if settings.model_kind() == "extractive":
        remedy = "set OPENAI_API_KEY, or OPENAI_BASE_URL and FOOTNOTE_MODEL__NAME for a server of your own"
        detail = "none is configured, so answers quote the best sentences"
        return Finding(check="language model", state="note", detail=detail, remedy=remedy)
    prompt = Prompt(messages=(Message(role="user", content="Reply with the word ready."),), reply_tokens=256)
    async with composition.application(settings) as application:
        first, *fallbacks = application.engine.models
        details = [await _answering(first, prompt)]
        for model in fallbacks:
            try:
                details.append(await _answering(model, prompt))
            except RagError as error:
                remedy = "check what FOOTNOTE_MODEL__FALLBACKS__… say of its name, base_url and api_key"
                detail = f"{model.name}, a fallback: {error}"
                return Finding(check="language model", state="bad", detail=detail, remedy=remedy)
    detail = "; else ".join(details)
    if first.window_is_assumed:
        remedy = "set FOOTNOTE_MODEL__CONTEXT_TOKENS if its window is larger: more passages then fit"
        return Finding(
            check="language model", state="ok", detail=f"{detail}, which is assumed", remedy=remedy
        )
    return Finding(check="language model", state="ok", detail=detail)


async def _answering(model: LanguageModel, prompt: Prompt) -> str:
    started = time.perf_counter()
    async with model.stream(prompt, task="verify") as pieces:
        await anext(pieces, "")
    seconds = time.perf_counter() - started
    return f"{model.name} answers in {seconds:.1f} s, window of {model.context_tokens:,} tokens"


async def _token_counting(settings: Settings) -> Finding:
    if await asyncio.to_thread(tokens.prepare):
        return Finding(check="token counting", state="ok", detail="exact")
    remedy = "optional: for exact counts let tiktoken fetch its vocabulary once, or set TIKTOKEN_CACHE_DIR"
    return Finding(check="token counting", state="note", detail="a safe overestimate", remedy=remedy)


def _print(finding: Finding, console: Console) -> None:
    line = Text.assemble(
        (f"{finding.state:4} ", _STYLES[finding.state]), (finding.check, "bold"), f": {finding.detail}"
    )
    if finding.remedy:
        line.append(f"\n     → {finding.remedy}")
    console.print(line)
