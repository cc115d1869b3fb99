"""`footnote doctor`: what is set up, what is wrong, and how to mend it."""

from __future__ import annotations

import asyncio
import json
import platform
import time
from contextlib import aclosing
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from bot import compose, parts, telemetry
from bot.commands import SPECS
from bot.keeping.forgetting import marks
from bot.port import ChatError, Finding
from rag_engine import recognition, tokens
from rag_engine.errors import RagError
from rag_engine.parsing import parser_pool
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from bot.settings import Settings
    from rag_engine.ports import LanguageModel

_SECONDS = 60
_STYLES = {"ok": "green", "note": "yellow", "bad": "red"}


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Check one thing after the other; a bad one does not stop the rest. Returns 1 when something is bad."""
    findings: list[Finding] = []
    console = Console(highlight=False)
    async for finding in _findings(settings):
        findings.append(finding)
        if not arguments.json:
            _print(finding, console)
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=2))
    return 1 if any(finding.state == "bad" for finding in findings) else 0


async def _findings(settings: Settings) -> AsyncGenerator[Finding]:
    yield Finding(check="settings", state="ok", detail=f"read; Python {platform.python_version()}")
    checks: dict[str, Callable[[Settings], Awaitable[Finding]]] = {
        "data directory": _data_directory,
        "reading of files": _reading,
        "text recognition": text_recognition,
        "embedder and index": _embedder_and_index,
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
            cause = telemetry.unwrapped(error)
            detail = str(cause) if isinstance(cause, RagError) else telemetry.report(cause)
            yield Finding(check=check, state="bad", detail=detail)
    async for finding in _platforms(settings):
        yield finding


async def _platforms(settings: Settings) -> AsyncGenerator[Finding]:
    """Whether each chat platform grants what the bot needs, asked of the platform itself."""
    names = parts.platform_names(settings)
    if not names:
        mend = "set SLACK_BOT_TOKEN with SLACK_APP_TOKEN, or DISCORD_TOKEN (`footnote setup slack`, `footnote setup discord`)"
        detail = "no token is set, so `footnote run` starts the console"
        yield Finding(check="chat platforms", state="note", detail=detail, mend=mend)
    for name in names:
        try:
            async with asyncio.timeout(_SECONDS):
                platform = await parts.platform(name, settings)
                async with aclosing(platform.module.check(platform.settings, SPECS)) as findings:
                    async for finding in findings:
                        yield finding
        except TimeoutError:
            yield Finding(check=name, state="bad", detail=f"no answer within {_SECONDS} seconds")
        except Exception as error:
            cause = telemetry.unwrapped(error)
            told = isinstance(cause, RagError | ChatError)
            yield Finding(check=name, state="bad", detail=str(cause) if told else telemetry.report(cause))


async def _data_directory(settings: Settings) -> Finding:
    async with compose.storage(settings) as storage:
        bases = await storage.catalog.knowledge_bases()
        waiting = await storage.queue.unfinished()
    detail = f"{settings.data_dir}, {len(bases)} knowledge bases"
    unfinished = await asyncio.to_thread(marks.interrupted, settings.data_dir)
    if unfinished is not None:
        detail += f", `footnote forget` was interrupted at the {unfinished.subject}"
        mend = "run it again: it goes on where it was"
        return Finding(check="data directory", state="note", detail=detail, mend=mend)
    if waiting:
        folders = sorted({str(job.path.parent) for job in waiting})
        mend = f"repeat `footnote add {folders[0]}`" + (" and the others" if len(folders) > 1 else "")
        detail += f", {len(waiting)} files of an interrupted run are unfinished"
        return Finding(check="data directory", state="note", detail=detail, mend=mend)
    return Finding(check="data directory", state="ok", detail=detail)


async def _reading(settings: Settings) -> Finding:
    """What holds the processes that read files nobody trusts, as such a process says itself."""
    memory = settings.parsing.memory_mb
    async with parser_pool(workers=1, seconds=_SECONDS, memory_bytes=memory << 20) as pool:
        protection = await pool.protection()
    held = (
        f"each file by itself, {memory} MB and {settings.parsing.seconds:g} s at most, held by {protection}"
    )
    if protection.complete:
        return Finding(check="reading of files", state="ok", detail=held)
    mend = (
        "for untrusted files use Linux 5.13 or later on x86-64 or ARM, with Landlock and seccomp switched on, "
        "and not withheld by a container or a service manager"
    )
    return Finding(
        check="reading of files", state="note", detail=f"{held}: no more is to be had here", mend=mend
    )


async def text_recognition(settings: Settings) -> Finding:
    """Whether scans and pictures can be read, and in which languages."""
    check = "text recognition"
    found = await asyncio.to_thread(recognition.find)
    if found is None or not (there := recognition.languages(found.installed)):
        detail = "Tesseract is not installed: scanned pages and pictures are not read, and whoever adds one is told so"
        mend = f"{recognition.install_command()} (and the data for the languages of your files); the bot finds it at once"
        return Finding(check=check, state="note", detail=detail, mend=mend)
    wanted = settings.parsing.ocr_languages
    used = recognition.chosen(found.installed, wanted)
    detail = f"Tesseract {found.version} reads scans and pictures in {', '.join(used)}"
    if missing := [name for name in wanted if name not in found.installed]:
        detail += f"; not installed, and named by FOOTNOTE_PARSING__OCR_LANGUAGES: {', '.join(missing)}"
        mend = f"`{recognition.install_command(missing)}`, or leave it out; installed: {', '.join(there)}"
        return Finding(check=check, state="bad", detail=detail, mend=mend)
    if recognition.ORIENTATION not in found.installed:
        mend = f"`{recognition.install_command([recognition.ORIENTATION])}`"
        return Finding(
            check=check,
            state="note",
            detail=f"{detail}; pages that lie on their side are not read",
            mend=mend,
        )
    if len(there) > recognition.MOST_LANGUAGES and not wanted:
        mend = f"set FOOTNOTE_PARSING__OCR_LANGUAGES, such as eng,deu; up to {recognition.MOST_LANGUAGES} are quick enough"
        return Finding(
            check=check, state="note", detail=f"{detail}, of {len(there)} that are installed", mend=mend
        )
    return Finding(check=check, state="ok", detail=detail)


async def _embedder_and_index(settings: Settings) -> Finding:
    started = time.perf_counter()
    async with compose.library(settings) as library:
        seconds = time.perf_counter() - started
        bases = await library.catalog.knowledge_bases()
        chunks = sum([await library.index.count(base.id) for base in bases])
        records = [record for base in bases for record in await library.catalog.records(base.id)]
        identity = library.identity
    expected = sum(record.chunks for record in records if record.state == "ready")
    if chunks != expected:
        detail = f"the {settings.index.kind} index holds {chunks} passages and the catalog {expected}"
        return Finding(
            check="embedder and index", state="bad", detail=detail, mend="run `footnote kb reindex --all`"
        )
    kind = settings.index.kind
    detail = (
        f"{identity.model}, {identity.dimensions} dimensions; {kind} index, {chunks} passages,"
        f" open in {seconds:.1f} s"
    )
    if settings.elasticsearch_url and kind != "elasticsearch":
        mend = "set FOOTNOTE_INDEX__KIND=elasticsearch and run `footnote kb reindex --all`, or remove ELASTICSEARCH_URL"
        detail += "; ELASTICSEARCH_URL is set and not used"
        return Finding(check="embedder and index", state="note", detail=detail, mend=mend)
    return Finding(check="embedder and index", state="ok", detail=detail)


async def _language_model(settings: Settings) -> Finding:
    if settings.model_kind() == "extractive":
        mend = "set OPENAI_API_KEY, or OPENAI_BASE_URL and FOOTNOTE_MODEL__NAME for a server of your own"
        detail = "none is configured, so answers quote the best sentences"
        return Finding(check="language model", state="note", detail=detail, mend=mend)
    prompt = Prompt(
        messages=(Message(role="user", content="Reply with the word ready."),), question="", reply_tokens=256
    )
    async with compose.application(settings) as application:
        first, *fallbacks = application.engine.models[:-1]
        details = [await _answering(first, prompt)]
        for model in fallbacks:
            try:
                details.append(await _answering(model, prompt))
            except RagError as error:
                mend = "check what FOOTNOTE_MODEL__FALLBACKS__… say of its name, base_url and api_key"
                detail = f"{model.name}, a fallback: {error}"
                return Finding(check="language model", state="bad", detail=detail, mend=mend)
    return Finding(check="language model", state="ok", detail="; else ".join(details))


async def _answering(model: LanguageModel, prompt: Prompt) -> str:
    started = time.perf_counter()
    async with model.stream(prompt, task="verify") as pieces:
        await anext(pieces, "")
    seconds = time.perf_counter() - started
    return f"{model.name} answers in {seconds:.1f} s, window of {model.context_tokens:,} tokens"


async def _token_counting(settings: Settings) -> Finding:
    if await asyncio.to_thread(tokens.prepare):
        return Finding(check="token counting", state="ok", detail="exact")
    mend = "nothing must be done; for exact counts let tiktoken fetch its vocabulary once, or set TIKTOKEN_CACHE_DIR"
    return Finding(check="token counting", state="note", detail="a safe overestimate", mend=mend)


def _print(finding: Finding, console: Console) -> None:
    line = Text.assemble(
        (f"{finding.state:4} ", _STYLES[finding.state]), (finding.check, "bold"), f": {finding.detail}"
    )
    if finding.mend:
        line.append(f"\n     → {finding.mend}")
    console.print(line, soft_wrap=True)
