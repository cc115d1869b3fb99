from __future__ import annotations

import re
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from elasticsearch import VERSION, AsyncElasticsearch
from elasticsearch.serializer import OrjsonSerializer

from rag_engine.errors import BadSettings, Misconfigured
from rag_engine.indexes.elasticsearch.errors import translate_errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.indexes.elasticsearch.settings import Settings

OLDEST_SERVER = (9, 3)
"""The first with packed vectors, which halve the traffic."""

_RETRIED = (429, 502, 503, 504)
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0
_PORTS = {"http": 9200, "https": 443}
_ADDRESS = (
    "ELASTICSEARCH_URL must look like https://host:9200, several with commas between them; in a password the characters"
    " @ : / and , must be written as %40 %3A %2F and %2C."
)


@asynccontextmanager
async def connected(settings: Settings) -> AsyncGenerator[AsyncElasticsearch]:
    """Makes no request yet; retries, because all our calls are repeatable. Raises `BadSettings`."""
    options: dict[str, Any] = {}
    if settings.api_key is not None:
        options["api_key"] = settings.api_key.get_secret_value()
    if settings.ca_file is not None:
        options["ssl_context"] = _trusting(settings.ca_file)
    try:
        client = AsyncElasticsearch(
            addresses(settings.url),
            connections_per_node=settings.connections,
            http_compress=settings.compress,
            request_timeout=settings.timeout,
            max_retries=settings.attempts - 1,
            retry_on_status=_RETRIED,
            retry_on_timeout=False,
            retry_backoff_base=_FIRST_PAUSE_SECONDS,
            retry_backoff_cap=_LONGEST_PAUSE_SECONDS,
            serializers={OrjsonSerializer.mimetype: OrjsonSerializer()},
            **options,
        )
    except (ValueError, OSError) as error:
        raise BadSettings(f"The search index cannot be connected to: {error}.") from error
    try:
        yield client
    finally:
        await client.close()


def _trusting(ca_file: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # including a file without a certificate
        raise BadSettings(
            f"FOOTNOTE_INDEX__CA_FILE: {ca_file} cannot be read as a certificate in PEM: {error.strerror or error}."
        ) from error


async def check_version(client: AsyncElasticsearch) -> None:
    """Raises `Misconfigured`. `GET /` would report the distribution's version."""
    with translate_errors(starting=True):
        answer = await client.nodes.info(node_id="_all", metric="_none", filter_path="nodes.*.version")
    versions = {str(node["version"]) for node in answer.get("nodes", {}).values()}
    for version in versions:
        if not is_supported(version):
            oldest = ".".join(map(str, OLDEST_SERVER))
            raise Misconfigured(
                f"The Elasticsearch server is {version}; Footnote (with its client {'.'.join(map(str, VERSION))}) needs"
                f" {oldest} or later: upgrade the cluster."
            )


def is_supported(version: str) -> bool:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2]) >= OLDEST_SERVER


def addresses(url: str) -> list[str]:
    """Raises `BadSettings` without quoting them: they may contain a password."""
    found = [_address(part) for part in re.split(r"[,\s]+", url) if part]
    if not found:
        raise BadSettings("ELASTICSEARCH_URL is empty: set it to the address of the cluster.")
    return found


def hosts(url: str) -> str:
    """Without credentials."""
    return ", ".join(urlsplit(address).netloc.rpartition("@")[2] for address in addresses(url))


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadSettings(_ADDRESS) from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise BadSettings(_ADDRESS)
    if port is not None:
        return url
    return parts._replace(netloc=f"{parts.netloc}:{_PORTS[parts.scheme]}").geturl()
