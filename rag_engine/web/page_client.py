from __future__ import annotations

import asyncio
import ipaddress
import socket
import zlib
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import aiohttp
from yarl import URL

from rag_engine.errors import FileTooLarge, Unavailable, UnsupportedFile, UserError
from rag_engine.web.addresses import PORTS, PrivateAddress, is_public, public_url

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from aiohttp.abc import AbstractResolver

    from rag_engine.web.addresses import Address

    IsAllowed: TypeAlias = Callable[[Address, int], bool]
    ParseUrl: TypeAlias = Callable[[str], URL]

_MB: Final = 1 << 20
_BLOCK: Final = 64 << 10
_MOST_REDIRECTS: Final = 5
_HEADERS: Final = {
    "User-Agent": "Footnote (reads pages for questions of its users)",
    "Accept": "text/html, application/xhtml+xml, text/plain, text/markdown, application/pdf;q=0.9",
    "Accept-Encoding": "identity",
}
_SUFFIXES: Final = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "txt",
    "text/markdown": "md",
    "application/pdf": "pdf",
}
_NONE: Final[Mapping[str, str]] = {}
_WINDOW_BITS: Final = {"gzip": 31, "x-gzip": 31, "deflate": 15}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    url: str
    """After redirects."""
    suffix: str
    """For example `html`."""
    charset: str
    """As the server says; empty if it does not."""
    content: bytes
    etag: str = ""
    modified: str = ""
    """As the header `Last-Modified` has it."""


class PageStatus(UserError):
    """The page cannot be read."""

    def __init__(self, status: int) -> None:
        super().__init__(f"The page cannot be read (HTTP {status}).")
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLimits:
    bytes: int = 5 * _MB
    """After decompression."""
    seconds: float = 10.0
    """With all redirects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageClient:
    session: aiohttp.ClientSession
    limits: PageLimits = PageLimits()
    parse: ParseUrl = public_url

    async def fetch(
        self, url: str, *, headers: Mapping[str, str] = _NONE, suffixes: Mapping[str, str] = _SUFFIXES
    ) -> FetchedPage:
        """`suffixes` of the media types that are read.

        Raises `PrivateAddress`, `FileTooLarge`, `UnsupportedFile`, `PageStatus` (also 304) or `Unavailable`.
        """
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await self._followed(url, {**_HEADERS, **headers}, suffixes)
        except TimeoutError as error:
            raise Unavailable("The page took too long.", backend="web", reason="timeout") from error
        except _Refused as error:
            raise PrivateAddress from error
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, _Refused):
                raise PrivateAddress from error
            raise Unavailable("The page cannot be reached.", backend="web", reason="unreachable") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise Unavailable("The page cannot be reached.", backend="web", reason="unreachable") from error

    async def _followed(
        self, url: str, headers: Mapping[str, str], suffixes: Mapping[str, str]
    ) -> FetchedPage:
        address = self.parse(url)
        for _ in range(_MOST_REDIRECTS + 1):
            async with self.session.get(address, allow_redirects=False, headers=headers) as response:
                if response.status in _REDIRECTS and (target := response.headers.get("Location")):
                    # Each address on the way is examined.
                    address = self.parse(str(address.join(URL(target))))
                    continue
                if response.status != HTTPStatus.OK:
                    raise PageStatus(response.status)
                return await self._read(response, str(address), suffixes)
        raise UserError("The page redirects too often.")

    async def _read(
        self, response: aiohttp.ClientResponse, url: str, suffixes: Mapping[str, str]
    ) -> FetchedPage:
        suffix = suffixes.get(response.content_type)
        if suffix is None:
            raise UnsupportedFile("This address holds no page of text.")
        if (response.content_length or 0) > self.limits.bytes:
            raise self._too_large()
        decode = _decoder(response.headers.get("Content-Encoding", ""))
        content = bytearray()
        async for block in response.content.iter_chunked(_BLOCK):
            content += decode(block, self.limits.bytes + 1 - len(content))
            if len(content) > self.limits.bytes:
                raise self._too_large()
        return FetchedPage(
            url=url,
            suffix=suffix,
            charset=response.charset or "",
            content=bytes(content),
            etag=response.headers.get("ETag", ""),
            modified=response.headers.get("Last-Modified", ""),
        )

    def _too_large(self) -> FileTooLarge:
        return FileTooLarge(f"The page is larger than {self.limits.bytes / _MB:g} MB.")


@asynccontextmanager
async def page_client(
    limits: PageLimits | None = None,
    *,
    is_allowed: IsAllowed | None = None,
    parse: ParseUrl = public_url,
    resolver: AbstractResolver | None = None,
) -> AsyncGenerator[PageClient]:
    """Examines each address just before its connection: no name can change it meanwhile."""
    allowed = is_allowed or _is_public

    def open_socket(info: Any) -> socket.socket:
        family, kind, protocol = info[:3]
        host, port, *_ = cast("tuple[str, int]", info[4])
        if not allowed(ipaddress.ip_address(host), port):
            raise _Refused(f"{host} is not public")
        return socket.socket(family, kind, protocol)

    connector = aiohttp.TCPConnector(
        socket_factory=open_socket, resolver=resolver, use_dns_cache=False, limit=16, force_close=True
    )
    async with aiohttp.ClientSession(
        connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False, trust_env=False
    ) as session:
        yield PageClient(session=session, limits=limits or PageLimits(), parse=parse)


class _Refused(OSError):
    pass


_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


def _is_public(address: Address, port: int) -> bool:
    return is_public(address) and port in PORTS


def _decoder(encoding: str) -> Callable[[bytes, int], bytes]:
    name = encoding.strip().casefold()
    if name in ("", "identity"):
        return lambda block, _: block
    if name not in _WINDOW_BITS:
        raise UnsupportedFile("This page is compressed in a way that cannot be read.")
    unpacker = zlib.decompressobj(_WINDOW_BITS[name])

    def unpack(block: bytes, most: int) -> bytes:
        try:
            return unpacker.decompress(block, max(most, 1))
        except zlib.error as error:
            raise ValueError("damaged") from error

    return unpack
