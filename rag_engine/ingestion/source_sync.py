"""An entry's row is written before its document and removed after it: a kill leaves no document without one."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from rag_engine.errors import RagError, Unavailable, UserError, first_error
from rag_engine.ingestion.blobs import LARGEST_FILE, blob_from_path
from rag_engine.storage.concurrency.iterators import closing
from rag_engine.storage.private_files import make_folder
from rag_engine.sync.types import EntryGone, SourceRefused, StoredEntry, SyncCounts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from rag_engine.sync.store import SqliteSources
    from rag_engine.sync.types import ListedSource, SourceContent, SourceEntry, SyncedSource
    from rag_engine.types import Blob, Ingested, KnowledgeBaseId

Change: TypeAlias = Literal["new", "changed", "gone", "failed", "same"]

_BATCH: Final = 500
_SUSPICIOUS: Final = 10
"""If so many are gone at once, their disk is probably not mounted."""
_LONGEST_NAME: Final = 120
_FORMER: Final = "\x1f"


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncLimits:
    entries: int = 100_000
    at_once: int = 2
    listing_seconds: float = 600.0
    most_bytes: int = LARGEST_FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncProgress:
    key: str
    change: Change
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOutcome:
    counts: SyncCounts
    entries: int | None = None
    error: str = ""


Ingest: TypeAlias = "Callable[[Blob, KnowledgeBaseId], Awaitable[Ingested]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSync:
    store: SqliteSources
    ingest: Ingest
    forget: Callable[[KnowledgeBaseId, str, Mapping[str, str]], Awaitable[None]]
    folder: Path
    prefix: str = "sync."
    limits: SyncLimits = SyncLimits()
    pause: Callable[[], Awaitable[None]] | None = None

    async def run(
        self,
        source: SyncedSource,
        opened: ListedSource,
        *,
        keeps_unlisted: bool = False,
        again: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncOutcome:
        """With `again`, unchanged entries too."""
        work = _Run(sync=self, source=source, opened=opened, report=progress or _ignore)
        try:
            with first_error():
                listed = await work.listed()
                await work.bring_in_line(listed, keeps_unlisted=keeps_unlisted, again=again)
        except RagError as error:
            return SyncOutcome(counts=work.counts(), error=str(error))
        return SyncOutcome(counts=work.counts(), entries=len(listed))

    async def remove(self, source: SyncedSource) -> None:
        await self.store.withdraw(source.id)
        rows = (await self.store.manifest(source.id)).values()
        await self.forget_all(source, [row for row in rows if row.state == "leaving"], titles={})
        await self.store.remove(source.id)

    async def forget_all(
        self, source: SyncedSource, rows: Sequence[StoredEntry], *, titles: Mapping[str, str]
    ) -> None:
        waiting = iter(rows)
        while batch := list(islice(waiting, _BATCH)):
            keys = [row.key for row in batch]
            await self.store.leave(source.id, keys)
            for row in batch:
                if not await self.store.held_elsewhere(source, row.uri):
                    await self.forget(source.knowledge_base, row.uri, titles)
            await self.store.drop(source.id, keys)


@dataclass(slots=True, kw_only=True)
class _Run:
    sync: SourceSync
    source: SyncedSource
    opened: ListedSource
    report: Callable[[SyncProgress], None]
    changes: dict[Change, int] = field(default_factory=dict["Change", int])

    def counts(self) -> SyncCounts:
        of = self.changes.get
        return SyncCounts(
            new=of("new", 0), changed=of("changed", 0), gone=of("gone", 0), failed=of("failed", 0)
        )

    async def listed(self) -> dict[str, SourceEntry]:
        most = self.sync.limits.entries
        found: dict[str, SourceEntry] = {}
        try:
            async with asyncio.timeout(self.sync.limits.listing_seconds):
                async with closing(self.opened.entries()) as batches:
                    async for batch in batches:
                        found.update((entry.key, entry) for entry in batch)
                        if len(found) > most:
                            raise SourceRefused(
                                f"The source has more than {most:,} entries; choose a part of it, or raise FOOTNOTE_SOURCES__ENTRIES."
                            )
        except TimeoutError as error:
            raise Unavailable(
                "Listing the source took too long.", backend="source", reason="timeout"
            ) from error
        return found

    async def bring_in_line(
        self, listed: Mapping[str, SourceEntry], *, keeps_unlisted: bool, again: bool
    ) -> None:
        store, source = self.sync.store, self.source
        await store.review(source)
        known = await self._moved(listed, await store.manifest(source.id))
        left = [row for key, row in known.items() if key not in listed and row.state != "forgotten"]
        if not listed and len(left) >= _SUSPICIOUS:
            raise SourceRefused(
                f"The source is empty, so its {len(left):,} documents stay; remove the source if that is right."
            )
        todo = [entry for entry in listed.values() if again or not _is_current(entry, known.get(entry.key))]
        await self._read_all([entry for entry in todo if not _is_forgotten(known.get(entry.key))], known)
        if keeps_unlisted:
            left = [row for row in left if row.state == "leaving"]
        if left := await self._replaced(left, listed):
            await self._forget(left)

    async def _moved(
        self, listed: Mapping[str, SourceEntry], known: Mapping[str, StoredEntry]
    ) -> Mapping[str, StoredEntry]:
        """A document whose entry got another URI leaves after that entry is read again, as if its key were another."""
        moved: dict[str, StoredEntry] = {}
        for key, row in known.items():
            if key in listed and row.uri != listed[key].uri and row.state != "leaving":
                if row.state == "forgotten":
                    moved[key] = replace(row, uri=listed[key].uri)
                    continue
                former = f"{key}{_FORMER}{row.uri}"
                moved[former] = replace(row, key=former, state="leaving", reason="")
                moved[key] = StoredEntry(key=key, uri=listed[key].uri)
        rows = iter(moved.values())
        while batch := list(islice(rows, 2 * _BATCH)):
            await self.sync.store.put(self.source.id, batch)
        return {**known, **moved}

    async def _replaced(
        self, left: Sequence[StoredEntry], listed: Mapping[str, SourceEntry]
    ) -> Sequence[StoredEntry]:
        """Without the documents of moved entries that could not be read at their new URI yet."""
        if not any(_FORMER in row.key for row in left):
            return left
        unread = {
            key for key, row in (await self.sync.store.manifest(self.source.id)).items() if not row.digest
        }
        return [row for row in left if row.key.partition(_FORMER)[0] not in unread & listed.keys()]

    async def _read_all(self, todo: Sequence[SourceEntry], known: Mapping[str, StoredEntry]) -> None:
        new = [StoredEntry(key=entry.key, uri=entry.uri) for entry in todo if _is_new(known.get(entry.key))]
        waiting = iter(new)
        while batch := list(islice(waiting, _BATCH)):
            await self.sync.store.put(self.source.id, batch)
        entries = iter(todo)
        async with asyncio.TaskGroup() as group:
            for number in range(min(self.sync.limits.at_once, len(todo))):
                group.create_task(self._work(entries, known), name=f"sync-{number}")

    async def _work(self, entries: Iterator[SourceEntry], known: Mapping[str, StoredEntry]) -> None:
        for entry in entries:
            if self.sync.pause is not None:
                await self.sync.pause()
            row = known.get(entry.key)
            before = StoredEntry(key=entry.key, uri=entry.uri) if row is None or _is_new(row) else row
            change, reason = await self._take(entry, before)
            self.changes[change] = self.changes.get(change, 0) + 1
            self.report(SyncProgress(key=entry.key, change=change, reason=reason))

    async def _take(self, entry: SourceEntry, before: StoredEntry) -> tuple[Change, str]:
        sync = self.sync
        await asyncio.to_thread(make_folder, sync.folder)
        with tempfile.TemporaryDirectory(prefix=sync.prefix, dir=sync.folder) as folder:
            path = Path(folder) / _file_name(entry.key)
            try:
                content = await self.opened.read(entry, path, since=before.validator)
            except EntryGone as error:
                if not before.digest and str(error):
                    await self._put(replace(before, reason=str(error)))
                    return "failed", str(error)
                await self._forget([before], count=False)
                return ("gone" if before.digest else "same"), ""
            except RagError as error:
                is_final = isinstance(error, UserError)
                mark = entry.fingerprint if is_final else before.fingerprint
                await self._put(replace(before, fingerprint=mark, reason=str(error)))
                return "failed", str(error)
            if content is None:
                await self._put(replace(before, fingerprint=entry.fingerprint, reason=""))
                return "same", ""
            return await self._ingest(entry, before, content, path)

    async def _ingest(
        self, entry: SourceEntry, before: StoredEntry, content: SourceContent, path: Path
    ) -> tuple[Change, str]:
        row = replace(
            before,
            fingerprint=content.fingerprint,
            validator=content.validator,
            reason="",
            title=content.title,
            link=content.link,
            version=content.version,
        )
        try:
            blob = await blob_from_path(path, uri=entry.uri, max_bytes=self.sync.limits.most_bytes)
        except UserError as error:
            kept = replace(before, fingerprint=content.fingerprint, validator=content.validator)
            await self._put(replace(kept, reason=str(error)))
            return "failed", str(error)
        row = replace(row, digest=blob.digest)
        if not before.digest and await self.sync.store.is_forgotten(self.source.id, blob.digest):
            await self._put(replace(row, state="forgotten"))
            return "same", ""
        if blob.digest == before.digest:
            row = replace(row, link=before.link, version=before.version)
        named = replace(blob, name=content.name, title=content.title)
        ingested = await self.sync.ingest(named, self.source.knowledge_base)
        record = ingested.record
        reason = record.reason if record.state == "failed" else ""
        try:
            await self._put(replace(row, state="present", reason=reason))
        except SourceRefused:
            await self.sync.forget(self.source.knowledge_base, entry.uri, {})
            raise
        if reason:
            return "failed", reason
        if blob.digest == before.digest:
            return "same", ""
        return ("changed" if before.digest else "new"), ""

    async def _put(self, row: StoredEntry) -> None:
        await self.sync.store.put(self.source.id, [row])

    async def _forget(self, rows: Sequence[StoredEntry], *, count: bool = True) -> None:
        store = self.sync.store
        digests = {row.digest for row in rows if row.digest}
        present = (await store.manifest(self.source.id)).values() if digests else ()
        titles = {row.uri: row.title for row in present if row.digest in digests and row.title}
        await self.sync.forget_all(self.source, rows, titles=titles)
        if not count:
            return
        for row in rows:
            if row.digest:
                self.changes["gone"] = self.changes.get("gone", 0) + 1
                self.report(SyncProgress(key=row.key, change="gone"))


def _is_new(row: StoredEntry | None) -> bool:
    return row is None or row.state == "leaving"


def _is_forgotten(row: StoredEntry | None) -> bool:
    return row is not None and row.state == "forgotten"


def _is_current(entry: SourceEntry, row: StoredEntry | None) -> bool:
    if row is None or row.state == "leaving":
        return False
    return row.state == "forgotten" or bool(entry.fingerprint and entry.fingerprint == row.fingerprint)


def _file_name(key: str) -> str:
    name = PurePosixPath(key.partition("?")[0]).name
    safe = "".join(
        character for character in name if character.isprintable() and character not in '\\/:*?"<>|'
    )
    return safe.encode("utf-8", "replace")[-_LONGEST_NAME:].decode("utf-8", "ignore").lstrip(".") or "page"


def _ignore(progress: SyncProgress) -> None: ...
