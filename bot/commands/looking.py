"""`/kb list`, `show`, `status`, `help`, and `/help`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.specs import SPECS, usage
from bot.commands.using import code, count, known_by_id, paged, reply

if TYPE_CHECKING:
    from bot.audience import Known
    from bot.commands.using import Use
    from bot.port import Reply
    from rag_engine.types import DocumentRecord

_WAITING = ("queued", "parsing", "embedding")
_MOST_FAILED = 10
_WELCOME = """\
I answer from the files that were added here, and number my sources so that you can check them.

- **Ask**: mention me, write to me directly, or use `/ask` (only you see the answer; `/ask channel: …` answers in the channel).
- **Follow up**: answer in the thread.
- **Add files**: attach them to a message to me. Files in a thread belong to that thread; everyone who can read it can ask about them.
- **Knowledge bases**: `/kb list` shows what I look in here, `/kb help` all commands.

What one channel holds is never shown in another."""


async def list_all(use: Use, *, page: int = 1) -> Reply:
    """What the person can use here, and how it is used."""
    known = await use.readable()
    if not known:
        return reply("There is no knowledge base here yet: add a file to a message to me, and ask about it.")
    lines = [await _line(use, one) for one in known]
    return paged("Knowledge bases you can use here:", lines, page=page, value="list")


async def show(use: Use) -> Reply:
    """The documents of one knowledge base."""
    return await _shown(use, await use.known(use.values.get("name", "")), page=1)


async def show_page(use: Use, identity: str, page: int) -> Reply:
    """Another page of them."""
    return await _shown(use, await known_by_id(use, identity), page=page)


async def status(use: Use) -> Reply:
    """The installation, and how the files are that questions look in here."""
    lines = [f"- {name}: {value}" for name, value in (await use.desk.facts()).items()]
    here = await use.readable(beside=())
    waiting, failed, ready = 0, list[str](), 0
    for known in here:
        for record in await use.desk.library.records(known.knowledge_base.id):
            ready += record.state == "ready"
            waiting += record.state in _WAITING
            if record.state == "failed":
                failed.append(f"  - {code(record.document.title)} in {code(known.name)}: {record.reason}")
    lines.append(f"- searched here: {count(len(here), 'knowledge base')} with {count(ready, 'document')}")
    lines.append(f"- waiting: {count(waiting, 'file')}")
    lines.append(f"- failed: {count(len(failed), 'file')}")
    lines += failed[:_MOST_FAILED]
    if len(failed) > _MOST_FAILED:
        lines.append(f"  - and {len(failed) - _MOST_FAILED} more: `/kb show` lists them")
    return reply("\n".join(lines))


async def commands(use: Use) -> Reply:
    """How every command is typed."""
    lines = [f"- `{usage(spec)}`: {spec.description}" for spec in SPECS]
    return reply(
        "\n".join(
            ("What you can type:", "", *lines, "", 'Names of several words stand in "quotation marks".')
        )
    )


async def welcome(use: Use) -> Reply:
    """What a newcomer needs to know."""
    return reply(_WELCOME)


async def _line(use: Use, known: Known) -> str:
    records = await use.desk.library.records(known.knowledge_base.id)
    ready = sum(record.state == "ready" for record in records)
    failed = sum(record.state == "failed" for record in records)
    parts = [count(ready, "document"), *([f"{failed} failed"] if failed else []), _use(known)]
    return f"- {code(known.name)}: {', '.join(parts)}"


def _use(known: Known) -> str:
    readers = "made by whoever runs me" if known.audience is None else ""
    if known.audience is not None and known.audience.everyone:
        readers = "readable by the whole workspace"
    if known.seen:
        how = "searched here"
    elif known.seen_privately:
        how = "searched here in your private questions"
    else:
        how = "not searched here"
    return ", ".join(part for part in (readers, how) if part)


async def _shown(use: Use, known: Known, *, page: int) -> Reply:
    records = await use.desk.library.records(known.knowledge_base.id)
    if not records:
        return reply(f"There are no documents in {code(known.name)} yet.")
    heading = f"{count(len(records), 'document')} in {code(known.name)}:"
    return paged(
        heading, [_document(one) for one in records], page=page, value=f"show:{known.knowledge_base.id}"
    )


def _document(record: DocumentRecord) -> str:
    name = code(record.document.title)
    if record.state == "failed":
        return f"- {name}: failed. {record.reason}"
    if record.state != "ready":
        return f"- {name}: being read" + (f". {record.reason}" if record.reason else "")
    pages = f" from {count(record.pages, 'page')}" if record.pages else ""
    return f"- {name}: {count(record.chunks, 'passage')}{pages}" + (
        f". {record.reason}" if record.reason else ""
    )
