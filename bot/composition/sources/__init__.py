from __future__ import annotations

import asyncio
import logging
import re
import shutil
import time
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from yarl import URL

from bot.composition import loader
from bot.observability import Observers
from bot.observability.operations import SourceRun
from rag_engine.errors import RagError, Unavailable
from rag_engine.ingestion.source_sync import SourceSync, SyncLimits, SyncOutcome
from rag_engine.sources import Surroundings
from rag_engine.storage.concurrency import file_lock
from rag_engine.sync.types import SourceRefused, SyncCounts
from rag_engine.web.addresses import PrivateAddress

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence

    from bot.composition.components import IndexingComponents
    from bot.composition.loader import SourceKind
    from bot.settings import Settings
    from rag_engine.ingestion.source_sync import SyncProgress
    from rag_engine.sync.store import SqliteSources
    from rag_engine.sync.types import ListedSource, SourceId, SyncedSource
    from rag_engine.types import Blob, Ingested, KnowledgeBaseId
    from rag_engine.web.page_client import PageClient

_log = logging.getLogger(__name__)
_NOBODY: Final = Observers()
_LOCK: Final = "sync.lock"
_MB: Final = 1 << 20
_SOON_SECONDS: Final = 900.0
_PASSWORD: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/@\s]*:[^/@\s]*@", re.IGNORECASE)
_OF_OPERATOR: Final = "Only web pages can be added in chat; the operator adds this with `footnote source add`, or lists it in FOOTNOTE_SOURCES__ALLOWED."
_LONGEST_ADDRESS: Final = 1_000
_TICK_SECONDS: Final = 15.0
_POLL_SECONDS: Final = 0.2
_GIVES_WAY_SECONDS: Final = 10.0
_LEAST_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    settings: Settings
    library: IndexingComponents
    observers: Observers = _NOBODY
    pause: Callable[[], Awaitable[None]] | None = None
    wait_seconds: float = 20.0
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def store(self) -> SqliteSources:
        return self.library.storage.sources

    async def add(
        self,
        knowledge_base: KnowledgeBaseId,
        address: str,
        *,
        kind: str = "",
        options: Mapping[str, str] | None = None,
        every_seconds: float | None = None,
        from_chat: bool = False,
    ) -> SyncedSource:
        """Raises `SourceRefused`."""
        address = address.strip()
        if not address or len(address) > _LONGEST_ADDRESS or _PASSWORD.match(address):
            raise SourceRefused(
                "Give an address without a password; `docs/limits.md` says where passwords go."
            )
        folder = await asyncio.to_thread(_folder_at, address)
        chosen = kind_of(address, kind or ("folder" if folder and not from_chat else ""), from_chat=from_chat)
        if chosen.name == "folder":
            address = folder or address
        if from_chat and not (chosen.is_public or self._is_allowed(address)):
            raise SourceRefused(_OF_OPERATOR)
        async with self._opened(chosen.name, address, options or {}, number="new"):
            pass
        web = self.settings.sources.web_every_minutes if chosen.is_public else None
        usual = 60.0 * (web or self.settings.sources.every_minutes)
        added = await self.store.add(
            knowledge_base,
            kind=chosen.name,
            address=address,
            options=options or {},
            every_seconds=max(every_seconds or usual, _LEAST_SECONDS),
        )
        self.wake.set()
        return added

    async def run(
        self,
        source: SyncedSource,
        *,
        again: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncOutcome:
        """Raises `Unavailable` while another program reads sources."""
        async with self._alone():
            return await self._run(source, again=again, progress=progress)

    async def run_soon(self, sources: Collection[SourceId]) -> None:
        await self.store.run_soon(sources)
        self.wake.set()

    async def run_now(self, source: SyncedSource) -> SyncedSource:
        await self.run_soon([source.id])
        return source

    async def first_run(self, source: SyncedSource) -> SyncedSource:
        end = time.monotonic() + self.wait_seconds
        while time.monotonic() < end:
            current = [each for each in await self.store.all(source.knowledge_base) if each.id == source.id]
            if not current or current[0].ran_at is not None:
                return current[0] if current else source
            await asyncio.sleep(_POLL_SECONDS)
        return source

    def giving_way(self, waiting: Callable[[], int]) -> Sources:
        """Waits while answers wait, for some seconds each time."""

        async def pause() -> None:
            end = time.monotonic() + _GIVES_WAY_SECONDS
            while waiting() and time.monotonic() < end:  # noqa: ASYNC110
                await asyncio.sleep(_POLL_SECONDS)

        return replace(self, pause=pause)

    @asynccontextmanager
    async def on_schedule(self) -> AsyncGenerator[None]:
        """Runs those that are due, until the block ends."""
        task = asyncio.create_task(self._keep_running(), name="sources")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _keep_running(self) -> None:
        while True:
            self.wake.clear()
            try:
                await self.run_due()
            except RagError as error:
                _log.log(logging.DEBUG if _is_busy(error) else logging.WARNING, "sources: %s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK_SECONDS):
                    await self.wake.wait()

    async def run_due(self, report: Callable[[SyncedSource, SyncOutcome], None] | None = None) -> None:
        """Also finishes removals. Raises as `run`."""
        if not (await self.store.leaving() or await self.store.due(time.time())):
            return
        async with self._alone():
            for source in await self.store.leaving():
                await self._remove(source)
            for source in await self.store.due(time.time()):
                outcome = await self._run(source)
                if report is not None:
                    report(source, outcome)

    async def remove(self, source: SyncedSource) -> None:
        await self.store.withdraw(source.id)
        await self._remove(source)

    async def _remove(self, source: SyncedSource) -> None:
        await self._sync().remove(source)
        await asyncio.to_thread(shutil.rmtree, self._folder(str(source.id)), ignore_errors=True)

    async def _run(
        self,
        source: SyncedSource,
        *,
        again: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncOutcome:
        await self.store.begin(source.id)
        operation = SourceRun(kind=source.kind)
        outcome = None
        try:
            with self.observers.around(operation):
                kind = loader.source_kinds().get(source.kind)
                async with self._opened(
                    source.kind, source.address, source.options, number=str(source.id)
                ) as opened:
                    outcome = await self._sync().run(
                        source,
                        opened,
                        keeps_unlisted=kind is not None and kind.keeps_unlisted,
                        again=again,
                        progress=progress,
                    )
                operation.count(outcome.counts, is_complete=not outcome.error)
        except RagError as error:
            outcome = SyncOutcome(counts=SyncCounts(), error=str(error))
        pause = source.every_seconds if not outcome.error else min(source.every_seconds, _SOON_SECONDS)
        await self.store.end(
            source,
            error=outcome.error,
            entries=outcome.entries,
            counts=outcome.counts,
            next_at=time.time() + pause,
        )
        return outcome

    def _sync(self) -> SourceSync:
        limits = self.settings.sources
        return SourceSync(
            store=self.store,
            ingest=self._ingest,
            forget=self.library.forget_source,
            folder=self.settings.data_dir / "uploads",
            prefix=f"{self.library.storage.claims.worker}.",
            limits=SyncLimits(
                entries=limits.entries,
                at_once=limits.at_once,
                listing_seconds=limits.listing_seconds,
                most_bytes=self.library.max_file_bytes,
            ),
            pause=self.pause,
        )

    async def _ingest(self, blob: Blob, knowledge_base: KnowledgeBaseId) -> Ingested:
        ingested = await self.library.ingestion.ingest(blob, knowledge_base=knowledge_base)
        await self.library.originals.keep(blob, ingested.record)
        return ingested

    @asynccontextmanager
    async def _opened(
        self, kind: str, address: str, options: Mapping[str, str], *, number: str
    ) -> AsyncGenerator[ListedSource]:
        limits = self.settings.sources
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(self._client(address))
            surroundings = Surroundings(
                folder=self._folder(number),
                data_dir=self.settings.data_dir,
                client=client,
                most_bytes=self.library.max_file_bytes,
                most_download_bytes=int(limits.repository_mb * _MB),
                seconds=limits.seconds,
            )
            yield await stack.enter_async_context(
                loader.source(kind, address, options, surroundings=surroundings)
            )

    @asynccontextmanager
    async def _client(self, address: str) -> AsyncGenerator[PageClient]:
        # It imports aiohttp.
        from rag_engine.web.page_client import PageLimits, page_client

        limits = PageLimits(
            bytes=int(self.settings.sources.page_mb * _MB), seconds=self.settings.sources.seconds
        )
        if address.startswith(("http://", "https://")) and self._is_allowed(address):
            trusted = page_client(limits, is_allowed=lambda _, __: True, parse=self._trusted)
            async with trusted as client:
                yield client
            return
        async with page_client(limits) as client:
            yield client

    def _trusted(self, url: str) -> URL:
        try:
            parsed = URL(url).with_fragment(None)
        except ValueError as error:
            raise PrivateAddress from error
        robots = parsed.path == "/robots.txt"
        listed = [URL(each) for each in self.settings.sources.allowed if each.startswith("http")]
        if robots and any(each.origin() == parsed.origin() for each in listed):
            return parsed
        if not self._is_allowed(str(parsed)):
            raise PrivateAddress
        return parsed

    def _is_allowed(self, address: str) -> bool:
        return any(is_under(address, beginning) for beginning in self.settings.sources.allowed)

    def _folder(self, number: str) -> Path:
        return self.settings.data_dir / "sources" / number

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[None]:
        busy = Unavailable("Another program reads the sources right now.", backend="source", reason="busy")
        async with file_lock.held(self.settings.data_dir / _LOCK, alone=True, seconds=0, refusal=busy):
            yield


def _is_busy(error: RagError) -> bool:
    return isinstance(error, Unavailable) and error.reason == "busy"


def _folder_at(address: str) -> str:
    try:
        path = Path(address).expanduser()
        return str(path.resolve()) if path.is_dir() else ""
    except (OSError, RuntimeError, ValueError):
        return ""


def kind_of(address: str, kind: str = "", *, from_chat: bool = False) -> SourceKind:
    kinds = loader.source_kinds()
    if kind and kind not in kinds:
        raise SourceRefused(f"There is no kind of source {kind!r}; there are: {', '.join(kinds)}.")
    for each in kinds.values():
        if each.name == kind or (not kind and each.addresses.fullmatch(address)):
            return each
    if from_chat:
        raise SourceRefused(_OF_OPERATOR)
    raise SourceRefused(f"Choose a kind of source for this address: {', '.join(kinds)}.")


def is_under(address: str, beginning: str) -> bool:
    """`/srv/docs` does not allow `/srv/docs-private`."""
    if ".." in re.split(r"[/\\]", unquote(address)):
        return False
    whole = beginning.rstrip("/\\")
    return bool(whole) and (address == whole or address.startswith((f"{whole}/", f"{whole}\\")))


def find(sources: Sequence[SyncedSource], reference: str) -> SyncedSource:
    """By number or address."""
    found = [each for each in sources if reference.strip() in (str(each.id), each.address)]
    if len(found) != 1:
        raise SourceRefused(
            f"There is no source {reference!r}."
            if not found
            else f"Several sources have the address {reference}; use the number."
        )
    return found[0]
