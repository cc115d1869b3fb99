"""Cached, and changed by compare-and-set in batches."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import elasticsearch

from rag_engine.errors import RagError
from rag_engine.indexes.elasticsearch import manifests
from rag_engine.indexes.elasticsearch.errors import kind_of, reason_of, translate_errors, unavailable
from rag_engine.indexes.elasticsearch.manifests import Abandon, Lease, Manifest, key_of
from rag_engine.indexes.elasticsearch.retry import repeated
from rag_engine.text.surrogates import encodable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from rag_engine.indexes.elasticsearch.cluster import Cluster
    from rag_engine.indexes.elasticsearch.manifests import Change
    from rag_engine.types import DocumentId, KnowledgeBaseId

    Counting = Callable[[Manifest, Sequence[DocumentId]], Awaitable[Mapping[DocumentId, Sequence[str]]]]

_log = logging.getLogger(__name__)

_REMEMBERED = 10_000
_LONGEST_PAUSE_SECONDS = 0.2
_STALE_SECONDS = manifests.LEASE_SECONDS / 4
"""An older lease could expire during the write."""
_CLOSING_SECONDS = 5.0
_NOT_NOW = 503

_MOST_IN_A_BATCH = 200

EMPTY = Manifest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """`place`: the last change; None if not stored."""

    manifest: Manifest
    place: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    name: str
    base: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    change: Change
    done: asyncio.Future[bool]


class ManifestStore:
    def __init__(self, cluster: Cluster, *, counting: Counting, grace: float) -> None:
        self._cluster = cluster
        self._counting = counting
        self._grace = grace
        self._known: OrderedDict[KnowledgeBaseId, Stored] = OrderedDict()
        self._ready: dict[KnowledgeBaseId, list[Generation]] = {}
        self._asked: dict[KnowledgeBaseId, list[_Asked]] = {}
        self._commits: dict[KnowledgeBaseId, asyncio.Task[None]] = {}
        self._unsaid: dict[KnowledgeBaseId, list[Change]] = {}

    async def known(self, bases: Sequence[KnowledgeBaseId]) -> dict[KnowledgeBaseId, Manifest]:
        found = {base: self._known[base] for base in bases if base in self._known}
        missing = [base for base in bases if base not in found]
        if missing:
            found |= await self._read(missing)
        return {base: found[base].manifest for base in bases}

    async def fetch(self, base: KnowledgeBaseId) -> Manifest:
        return (await self.fetch_all([base]))[base]

    async def fetch_all(self, bases: Sequence[KnowledgeBaseId]) -> dict[KnowledgeBaseId, Manifest]:
        return {base: stored.manifest for base, stored in (await self._read(bases)).items()}

    def learn(
        self, bases: Sequence[KnowledgeBaseId], hits: Iterable[Mapping[str, Any]]
    ) -> dict[KnowledgeBaseId, Manifest]:
        by_key = {hit["_id"]: hit for hit in hits}
        found: dict[KnowledgeBaseId, Manifest] = {}
        for base in bases:
            hit = by_key.get(key_of(base))
            stored = _stored(hit) if hit is not None else _NOTHING
            found[base] = stored.manifest
            before = self._known.get(base)
            # It may be older than our writes.
            if before is None or before.place is None or (stored.place or (0, 0)) >= before.place:
                self._remember(base, stored)
            elif not stored.manifest.shows_what(before.manifest):
                # Not refreshed yet, or of a recreated index.
                del self._known[base]
        return found

    def forget(self) -> None:
        self._known.clear()
        self._ready.clear()
        self._unsaid.clear()

    async def generation(self, base: KnowledgeBaseId) -> Generation:
        while True:
            ready = self._ready.setdefault(base, [])
            current = self._known.get(base, _NOTHING).manifest.base
            while ready:
                generation = ready.pop()
                if generation.base == current and generation.at + _STALE_SECONDS > time.time():
                    return generation
            await self.change(base, Lease())

    async def change(self, base: KnowledgeBaseId, change: Change) -> bool:
        """Whether the change holds. Cancelling may not prevent it."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._ask(base, _Asked(change=change, done=done))
        return await done

    def abandon(self, base: KnowledgeBaseId, generation: Generation) -> None:
        self._ask(base, self._unwatched(Abandon(generation=generation.name)))

    async def written(self) -> None:
        if tasks := list(self._commits.values()):
            await asyncio.wait(tasks, timeout=_CLOSING_SECONDS)

    async def close(self) -> None:
        """Gives back leased generations."""
        for base, ready in self._ready.items():
            for generation in ready:
                self._ask(base, self._unwatched(Abandon(generation=generation.name, used=False)))
        self._ready.clear()
        tasks = list(self._commits.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_CLOSING_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _unwatched(self, change: Change) -> _Asked:
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        done.add_done_callback(_log_failure)
        return _Asked(change=change, done=done)

    def _ask(self, base: KnowledgeBaseId, asked: _Asked) -> None:
        self._asked.setdefault(base, []).append(asked)
        if base not in self._commits:
            self._commits[base] = asyncio.create_task(
                self._commit_all(base), name=f"manifest-{key_of(base)[:8]}"
            )

    async def _commit_all(self, base: KnowledgeBaseId) -> None:
        batch: list[_Asked] = []
        try:
            while batch := self._next_batch(base):
                await self._commit_for(base, batch)
        finally:
            del self._commits[base]
            for asked in (*batch, *self._asked.pop(base, [])):
                if not asked.done.done():
                    asked.done.set_exception(unavailable("timeout"))

    def _next_batch(self, base: KnowledgeBaseId) -> list[_Asked]:
        waiting = self._asked.pop(base, [])
        if waiting and (unsaid := self._unsaid.pop(base, [])):
            waiting = [*(self._unwatched(change) for change in unsaid), *waiting]
        if len(waiting) > _MOST_IN_A_BATCH:
            self._asked[base] = waiting[_MOST_IN_A_BATCH:]
        return waiting[:_MOST_IN_A_BATCH]

    async def _commit_for(self, base: KnowledgeBaseId, batch: Sequence[_Asked]) -> None:
        try:
            held = await repeated(
                lambda: self._commit(base, [asked.change for asked in batch]),
                seconds=self._cluster.settings.write_timeout,
            )
        except RagError as error:
            if given_up := [asked.change for asked in batch if isinstance(asked.change, Abandon)]:
                self._unsaid.setdefault(base, []).extend(given_up)
            for asked in batch:
                if not asked.done.done():
                    asked.done.set_exception(error)
            return
        for asked, holds in zip(batch, held, strict=True):
            if not asked.done.done():
                asked.done.set_result(holds)

    async def _commit(self, base: KnowledgeBaseId, changes: Sequence[Change]) -> tuple[bool, ...]:
        read = base not in self._known
        if read:
            await self._read([base])
        while True:
            stored = self._known.get(base, _NOTHING)
            before, now = stored.manifest, time.time()
            counting = await self._counting(before, manifests.documents_of(changes))
            outcome = manifests.applied(before, changes, counting=counting, now=now, grace=self._grace)
            after, made = self._topped_up(base, outcome.manifest, changes, now=now)
            if after == before and (stored.place is not None or after == EMPTY):
                if read:
                    return outcome.done
                # Another program may have changed it.
                read = True
                await self._read([base])
                continue
            if await self._set(base, after, stored, visible=not after.shows_what(before) or bool(made)):
                fresh = [Generation(name=name, base=after.base, at=now) for name in made]
                self._ready.setdefault(base, []).extend(fresh)
                return outcome.done
            await asyncio.sleep(random.uniform(0, _LONGEST_PAUSE_SECONDS))  # noqa: S311 - to part competitors
            read = True
            await self._read([base])

    def _topped_up(
        self, base: KnowledgeBaseId, manifest: Manifest, changes: Sequence[Change], *, now: float
    ) -> tuple[Manifest, list[str]]:
        needed = sum(isinstance(change, Lease | manifests.Publish) for change in changes)
        if not needed:
            return manifest, []
        ready = [each for each in self._ready.get(base, []) if each.base == manifest.base]
        return manifests.leased(manifest, max(0, needed - len(ready)), now=now)

    async def _set(self, base: KnowledgeBaseId, manifest: Manifest, stored: Stored, *, visible: bool) -> bool:
        names = await self._cluster.names()
        document = {"knowledge_base": encodable(base), **manifests.to_source(manifest)}
        condition: dict[str, Any] = {"op_type": "create"}
        if stored.place is not None:
            condition = {"if_primary_term": stored.place[0], "if_seq_no": stored.place[1]}
        with translate_errors():
            try:
                answer = await self._cluster.writer.index(
                    index=names.written_manifests,
                    require_alias=True,
                    id=key_of(base),
                    document=document,
                    refresh=visible,
                    timeout=self._cluster.server_timeout,
                    **condition,
                )
            except elasticsearch.ConflictError:
                return False
        self._remember(base, Stored(manifest=manifest, place=(answer["_primary_term"], answer["_seq_no"])))
        return True

    async def remove_if_empty(self, base: KnowledgeBaseId) -> None:
        stored = self._known.get(base)
        if stored is None or stored.place is None or not stored.manifest.is_empty:
            return
        names = await self._cluster.names()
        term, number = stored.place
        changed = (elasticsearch.ConflictError, elasticsearch.NotFoundError)
        with translate_errors(), contextlib.suppress(*changed):
            await self._cluster.writer.delete(
                index=names.manifests,
                id=key_of(base),
                if_primary_term=term,
                if_seq_no=number,
                refresh=True,
            )
        self._known.pop(base, None)

    async def _read(self, bases: Sequence[KnowledgeBaseId]) -> dict[KnowledgeBaseId, Stored]:
        names = await self._cluster.names()
        with translate_errors():
            answer = await self._cluster.reader.mget(
                index=names.manifests, ids=[key_of(base) for base in bases]
            )
        read: dict[KnowledgeBaseId, Stored] = {}
        for base, found in zip(bases, answer["docs"], strict=True):
            if "error" in found:
                raise unavailable(reason_of(_NOT_NOW, found["error"]), kind_of(found["error"]))
            read[base] = _stored(found) if found.get("found") else _NOTHING
            self._remember(base, read[base])
        return read

    def _remember(self, base: KnowledgeBaseId, stored: Stored) -> None:
        self._known[base] = stored
        self._known.move_to_end(base)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


_NOTHING = Stored(manifest=EMPTY, place=None)


def _stored(hit: Mapping[str, Any]) -> Stored:
    return Stored(
        manifest=manifests.from_source(hit["_source"]), place=(hit["_primary_term"], hit["_seq_no"])
    )


def _log_failure(done: asyncio.Future[bool]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        _log.info("a generation could not be released and expires by itself: %s", error)
