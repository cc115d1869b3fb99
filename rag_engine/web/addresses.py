"""No page can make us call inside the operator's network (SSRF)."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from yarl import URL

from rag_engine.errors import UserError

if TYPE_CHECKING:
    from rag_engine.types import DocumentId

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

DOCUMENT: Final = "web:"
"""Begins the ids of web pages."""
MESSAGE: Final = "message:"
"""Begins the ids of messages that the platform found."""
PORTS: Final = frozenset({80, 443})
_SCHEMES: Final = frozenset({"http", "https"})
_NAME: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")
_LONGEST: Final = 2_048
_NAT64: Final = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
_COMPATIBLE: Final = ipaddress.ip_network("::/96")
# IANA's special-purpose addresses; older releases of Python count some as global.
_SPECIAL: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "192.0.0.0/24",
        "192.88.99.0/24",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
    )
)


class PrivateAddress(UserError):
    """The address of this page is not on the public web."""


def is_outside(document: DocumentId) -> bool:
    """In no knowledge base."""
    return document.startswith((DOCUMENT, MESSAGE))


def is_public(address: Address) -> bool:
    """Also IPv4 in IPv6: mapped, compatible, 6to4, Teredo and NAT64."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            return False
        inner = _inner(address)
        if inner is not None:
            return is_public(inner)
    if any(address in network for network in _SPECIAL if network.version == address.version):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def public_url(url: str) -> URL:
    """Raises `PrivateAddress` unless it is http(s) on its usual port, without a user name."""
    try:
        if len(url) > _LONGEST:
            raise ValueError
        parsed = URL(url.strip())
        host, port = parsed.raw_host or "", parsed.port
        names_no_user = parsed.user is None and parsed.password is None
        usable = parsed.scheme in _SCHEMES and port in PORTS and names_no_user and _is_public_host(host)
    except ValueError:
        usable = False
    else:
        if usable:
            return parsed.with_fragment(None)
    raise PrivateAddress


def _is_public_host(host: str) -> bool:
    try:
        return is_public(ipaddress.ip_address(host))
    except ValueError:
        name = host.rstrip(".").casefold()
        return _NAME.fullmatch(name) is not None and not name.endswith(
            (".localhost", ".local", ".internal", ".onion")
        )


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _COMPATIBLE or any(address in network for network in _NAT64):
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return None
