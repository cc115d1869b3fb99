from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.web.addresses import PrivateAddress, is_public, public_url

PRIVATE_IPV4 = [
    "0.0.0.1", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.1.2.3", "127.255.255.255",
    "169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.8", "192.0.2.1",
    "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
    "240.0.0.1", "255.255.255.255", "100.100.100.200",
]  # fmt: skip
PRIVATE_IPV6 = [
    "::", "::1", "::7f00:1", "::a00:1", "100::1", "2001:db8::1", "2001:2::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1",
    "febf::1", "fec0::1", "ff02::1", "ff0e::1", "64:ff9b:1::1", "2001:10::1", "3fff::1",
]  # fmt: skip
PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e"]
INSIDE = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "172.20.1.1", "100.64.0.1", "0.0.0.1"]


def _wrapped(address: str) -> list[str]:
    """The IPv4 address in IPv6: mapped, compatible, NAT64, 6to4, Teredo."""
    value = int(ipaddress.IPv4Address(address))
    high, low = value >> 16, value & 0xFFFF
    inverted = value ^ 0xFFFF_FFFF
    return [
        f"::ffff:{address}",
        f"::ffff:{high:x}:{low:x}",
        f"::{high:x}:{low:x}",
        f"64:ff9b::{high:x}:{low:x}",
        f"64:ff9b:1::{high:x}:{low:x}",
        f"2002:{high:x}:{low:x}::1",
        f"2001:0:4136:e378:8000:63bf:{inverted >> 16:x}:{inverted & 0xFFFF:x}",
    ]


WRAPPED = [wrapped for address in INSIDE for wrapped in _wrapped(address)]
HOSTS = [*PRIVATE_IPV4, *(f"[{address}]" for address in (*PRIVATE_IPV6, *WRAPPED))]
URLS = [
    *(f"http://{host}/" for host in HOSTS),
    *(f"https://{host}/latest/meta-data/" for host in HOSTS),
    "http://localhost/", "http://LOCALHOST/", "http://localhost./", "http://foo.localhost/", "http://printer.local/",
    "http://metadata.google.internal/", "http://db.internal./", "http://intranet/", "http://wiki/", "http://a.onion/",
    "ftp://example.com/", "file:///etc/passwd", "file://localhost/etc/passwd", "gopher://example.com/", "data:text/html,hello",
    "javascript:alert(1)", "dict://example.com:11211/", "ldap://example.com/", "jar:http://example.com!/", "//example.com/",
    "example.com", "", " ", "http://", "http:///path", "http://?q", "https://:443/", "http://user@example.com/",
    "http://user:word@example.com/", "http://example.com@127.0.0.1/", "http://127.0.0.1@example.com/", "http://example.com:22/",
    "http://example.com:8080/", "http://example.com:6379/", "http://example.com:9200/", "http://example.com:0/",
    "http://example.com:99999/", "http://[::1", "http://[fe80::1%25eth0]/", "http://[::ffff:127.0.0.1%25lo]/",
    "http://example.com" + "/a" * 2_000, "http://exa mple.com/\x00", "http://%00/", "http://\\\\127.0.0.1/",
]  # fmt: skip
# The system's resolver turns these into addresses: the connection is refused then (test_page_client).
SPELLED = [
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "0x7f.1",
    "017700000001",
    "127.0.1",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
]


@pytest.mark.parametrize("number", range(len(URLS)))
def test_an_address_inside_is_refused(number: int) -> None:
    with pytest.raises(PrivateAddress):
        public_url(URLS[number])


def test_there_are_enough_of_them() -> None:
    assert len(set(URLS)) >= 200


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_used(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))
    host = f"[{address}]" if ":" in address else address
    assert str(public_url(f"https://{host}/a?b=c#d")) == f"https://{host}/a?b=c"


@pytest.mark.parametrize(
    "url",
    ["http://example.com", "https://example.com/path?q=1", "https://bücher.example/ä", "HTTP://EXAMPLE.COM/"],
)
def test_a_public_name_is_used(url: str) -> None:
    assert public_url(url).scheme in ("http", "https")


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34"])
def test_a_public_address_in_another_form_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(f"::ffff:{address}"))


@given(st.ip_addresses(v=4).filter(lambda address: not address.is_global))
def test_no_form_of_a_private_address_is_public(address: ipaddress.IPv4Address) -> None:
    assert not is_public(address)
    for wrapped in _wrapped(str(address)):
        assert not is_public(ipaddress.ip_address(wrapped)), wrapped
