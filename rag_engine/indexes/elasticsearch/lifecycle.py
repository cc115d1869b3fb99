from __future__ import annotations

import hashlib
import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import elasticsearch
from elasticsearch.helpers import async_scan

from rag_engine.errors import Misconfigured, SchemaMismatch
from rag_engine.indexes.elasticsearch import schema
from rag_engine.indexes.elasticsearch.client import check_version
from rag_engine.indexes.elasticsearch.errors import kind_of, translate_errors, unavailable
from rag_engine.indexes.elasticsearch.manifests import key_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from elasticsearch import AsyncElasticsearch

    from rag_engine.indexes.elasticsearch.settings import Settings
    from rag_engine.ports import IndexIdentity
    from rag_engine.types import KnowledgeBaseId

_log = logging.getLogger(__name__)

_REBUILDING = "-rebuilding"
_CHUNKS, _MANIFESTS = "-chunks", "-manifests"
_WRITING = "-write"
"""Writing to a removed index must fail, not recreate it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexNames:
    chunks: str

    @property
    def manifests(self) -> str:
        return self.chunks.removesuffix(_CHUNKS) + _MANIFESTS

    @property
    def written_chunks(self) -> str:
        return self.chunks + _WRITING

    @property
    def written_manifests(self) -> str:
        return self.manifests + _WRITING


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    names: IndexNames
    meta: Mapping[str, Any]


async def opened(
    client: AsyncElasticsearch, settings: Settings, identity: IndexIdentity, *, rebuilding: bool
) -> IndexNames:
    """Empty indexes of another identity are recreated. Raises `IndexUnavailable`, `SchemaMismatch`, or `Misconfigured`."""
    await check_version(client)
    alias = settings.alias + (_REBUILDING if rebuilding else "")
    with translate_errors(starting=True):
        found = await _behind(client, alias)
        if found is not None and await _is_usable(client, alias, found, identity, rebuilding=rebuilding):
            return found.names
        names = await _make(client, settings, identity, alias=alias, old=found)
        _log.info("index_made name=%s", names.chunks)
        return names


async def replace(
    client: AsyncElasticsearch, settings: Settings, *, knowledge_bases: Collection[KnowledgeBaseId] | None
) -> None:
    """In one step with the removal of the old index. Raises `Misconfigured` if that holds other knowledge bases."""
    with translate_errors(starting=True):
        fresh = await _behind(client, settings.alias + _REBUILDING)
        if fresh is None:
            return
        actions: list[dict[str, Any]] = [
            {"remove": {"index": fresh.names.chunks, "alias": settings.alias + _REBUILDING}},
            {"add": {"index": fresh.names.chunks, "alias": settings.alias}},
        ]
        old = await _behind(client, settings.alias)
        if old is not None:
            schema.check_owner(old.names.chunks, old.meta)
            if knowledge_bases is not None:
                await _refuse_strangers(client, settings, old.names, knowledge_bases)
            actions += await _removal(client, old.names)
        if not await _change(client, actions) and await _behind(client, settings.alias + _REBUILDING):
            raise unavailable("missing")


async def _refuse_strangers(
    client: AsyncElasticsearch, settings: Settings, old: IndexNames, ours: Collection[KnowledgeBaseId]
) -> None:
    """Other installations' knowledge bases are invisible, but a rebuild would remove them."""
    known = {key_of(base) for base in ours}
    strangers = 0
    async for hit in async_scan(client, index=old.manifests):
        if hit["_id"] not in known and hit["_source"]["manifest"]["base"]:
            strangers += 1
    if strangers:
        raise Misconfigured(
            f"The Elasticsearch index {settings.alias} also holds {strangers} knowledge bases that this data directory does not"
            " know, probably of another installation, and the rebuilt index would replace them: give this one a name of"
            " its own with FOOTNOTE_INDEX__ALIAS, or remove the index if nobody needs it."
        )


async def abandon(client: AsyncElasticsearch, settings: Settings) -> None:
    with translate_errors(starting=True):
        await _remove(client, settings.alias + _REBUILDING)


async def remove(client: AsyncElasticsearch, settings: Settings) -> None:
    await abandon(client, settings)
    with translate_errors(starting=True):
        await _remove(client, settings.alias)


async def _behind(client: AsyncElasticsearch, alias: str) -> _Found | None:
    try:
        answer = await client.indices.get(index=alias, features=["mappings"])
    except elasticsearch.NotFoundError:
        return None
    ((name, index),) = cast("dict[str, Any]", answer.body).items()
    meta = cast("dict[str, Any]", index["mappings"].get("_meta", {}))
    if not name.endswith(_CHUNKS):
        meta = {}  # a foreign index behind the name
    return _Found(names=IndexNames(chunks=name), meta=meta)


async def _is_usable(
    client: AsyncElasticsearch, alias: str, found: _Found, identity: IndexIdentity, *, rebuilding: bool
) -> bool:
    schema.check_owner(found.names.chunks, found.meta)
    try:
        schema.check_schema(found.names.chunks, found.meta)
    except SchemaMismatch:
        if rebuilding:
            return False
        raise
    whole = await client.indices.exists(index=found.names.manifests)
    if whole and schema.is_of(identity, found.meta):
        return True
    if rebuilding:
        return False
    await client.indices.refresh(index=found.names.chunks)
    counted = await client.count(index=found.names.chunks)
    if counted["count"]:
        raise schema.mismatch(alias, identity, found.meta) if whole else schema.halved(found.names.manifests)
    return False


async def _make(
    client: AsyncElasticsearch, settings: Settings, identity: IndexIdentity, *, alias: str, old: _Found | None
) -> IndexNames:
    stem = await _free_stem(client, settings, identity, alias=alias)
    names = IndexNames(chunks=stem + _CHUNKS)
    await _create(
        client,
        names.manifests,
        {**schema.manifest_index(settings, identity), "aliases": {names.written_manifests: {}}},
    )
    aliases: dict[str, Any] = {names.written_chunks: {}, **({alias: {}} if old is None else {})}
    await _create(client, names.chunks, {**schema.chunk_index(settings, identity), "aliases": aliases})
    if old is not None:
        actions = [{"add": {"index": names.chunks, "alias": alias}}, *await _removal(client, old.names)]
        await _change(client, actions)
    return names


async def _change(client: AsyncElasticsearch, actions: Sequence[Mapping[str, Any]]) -> bool:
    try:
        await client.indices.update_aliases(actions=actions)
    except elasticsearch.NotFoundError:
        _log.info("index_aliases_changed_already")
        return False
    return True


async def _create(client: AsyncElasticsearch, name: str, body: Mapping[str, Any]) -> None:
    try:
        await client.indices.create(index=name, **body)
    except elasticsearch.BadRequestError as error:
        described = cast("dict[str, Any]", error.body).get("error", {})
        if kind_of(described) != "resource_already_exists_exception":
            raise


async def _free_stem(
    client: AsyncElasticsearch, settings: Settings, identity: IndexIdentity, *, alias: str
) -> str:
    named = f"{identity.model}\x1f{identity.dimensions}\x1f{identity.analyzer}"
    stem = f"{settings.alias}-{hashlib.sha256(named.encode()).hexdigest()[:8]}"
    answer = await client.indices.get_alias(index=f"{stem}-*{_CHUNKS}")
    numbers = [0]
    for name, index in cast("dict[str, Any]", answer.body).items():
        match = re.fullmatch(rf"{re.escape(stem)}-(\d+){_CHUNKS}", name)
        if match is None:
            continue
        readable = {each for each in index["aliases"] if not each.endswith(_WRITING)}
        # Another program creates it, or was killed.
        if not readable or alias in readable:
            return f"{stem}-{match[1]}"
        numbers.append(int(match[1]))
    return f"{stem}-{max(numbers) + 1}"


async def _remove(client: AsyncElasticsearch, alias: str) -> None:
    found = await _behind(client, alias)
    if found is not None:
        schema.check_owner(found.names.chunks, found.meta)
        await _change(client, await _removal(client, found.names))


async def _removal(client: AsyncElasticsearch, names: IndexNames) -> list[dict[str, Any]]:
    there = [names.chunks]
    if await client.indices.exists(index=names.manifests):
        there.append(names.manifests)
    return [{"remove_index": {"index": name}} for name in there]
