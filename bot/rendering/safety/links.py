from __future__ import annotations

import html
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import regex

from bot.rendering.safety.top_level_domains import ENDINGS
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable

_SCHEMES: Final = (
    "mailto|tel|sms|javascript|data|vbscript|file|magnet|callto|skype|slack|discord|steam|blob|about|view-source|intent"
    "|ftp|ssh|git|facetime|whatsapp|geo|ms-[a-z]+|jar|ws|wss|sip|sips|xmpp|news|nntp|irc|https?"
)
# Text before a host name in scripts without blanks is not part of it.
_NO_BLANKS: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_FIRST: Final = rf"[[\p{{L}}\p{{N}}]--{_NO_BLANKS}]"
_NEXT: Final = rf"[[\p{{L}}\p{{M}}\p{{N}}\-_]--{_NO_BLANKS}]"
# Platforms read escaped signs and entities as the signs.
_COLON: Final = r"(?:\\?:|(?i:&\#0*58;|&\#x0*3a;|&colon;))"
_SLASH: Final = r"(?:\\?/|(?i:&\#0*47;|&\#x0*2f;|&sol;))"
_DOT: Final = r"(?:\\?\.|(?i:&\#0*46;|&\#x0*2e;|&period;))"
ADDRESS: Final = (
    rf"(?<![[\p{{L}}\p{{N}}+]--{_NO_BLANKS}])(?:(?i:[a-z][a-z0-9+.\-]{{0,24}}){_COLON}{_SLASH}{{2}}"
    rf"|(?i:{_SCHEMES}){_COLON}(?=[^\s<>`:])|(?i:www){_DOT})[^\s<>`]+"
    rf"|(?<![[\w.+%\-@]--{_NO_BLANKS}])[[\w.+%\-]--{_NO_BLANKS}]{{1,64}}@(?:[\w\-]{{1,63}}\.){{1,8}}[\p{{L}}\-0-9]{{2,63}}"
    # or four numbers with something behind them
    rf"|(?<![[\p{{L}}\p{{N}}@.\-]--{_NO_BLANKS}])(?:(?:{_FIRST}{_NEXT}{{0,62}}{_DOT}){{1,8}}(?P<ending>(?i:xn--[a-z0-9\-]+)|\p{{L}}{{2,24}})"
    r"|\d{1,3}(?:\.\d{1,3}){3}(?=[:/]))(?![\p{L}\p{N}\-])(?::\d{1,5})?(?:[/?#][^\s<>`]*)?"
)
"""A superset of what chat programs link; with an `ending` it must pass `counts`."""

_PATTERN: Final = lazy(lambda: regex.compile(ADDRESS, regex.VERSION1))
_BEHIND: Final = ".,;:!?'\")]}*_~|>\u2019\u201d\u3002\uff0c\uff01\uff1f\uff1b\uff1a\uff09\u300d\u3001"
_WEB: Final = lazy(lambda: regex.compile(r"(?i)(?:https?://|mailto:)\S+", regex.VERSION1))
_INVISIBLE: Final = lazy(lambda: regex.compile(r"[\p{Cf}*_~`\\|]", regex.VERSION1))
_HOST: Final = lazy(
    lambda: regex.compile(
        r"(?i)(?:[a-z][a-z0-9+.\-]*:/*)?(?:[^/?#@\s]*@)?(?:www\.)?([^/?#:\s]+)", regex.VERSION1
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    keys: frozenset[str] = frozenset()
    every: bool = False

    def permit(self, address: str) -> bool:
        if not _WEB.fullmatch(complete(address)) or any(character in _UNSAFE for character in address):
            return False
        return self.every or key(address) in self.keys


_UNSAFE: Final = frozenset('<>`|\\ \t\n"{}^') | {chr(code) for code in range(32)}


def links(addresses: Iterable[str] | None, *, also: Iterable[str] = ()) -> Links:
    if addresses is None:
        return Links(every=True)
    return Links(keys=frozenset(key(address) for address in (*addresses, *also)))


def links_in(text: str) -> frozenset[str]:
    return frozenset(core(text[start:end]) for start, end in addresses(text))


def addresses(text: str) -> Iterable[tuple[int, int]]:
    for found in _PATTERN.finditer(text):
        if counts(found):
            yield found.span()


def counts(found: regex.Match[str]) -> bool:
    ending = found.group("ending")
    return ending is None or ending.lower() in ENDINGS or ending.lower().startswith("xn--")


def core(address: str) -> str:
    while address and address[-1] in _BEHIND:
        if address[-1] == ")" and address.count("(") >= address.count(")"):
            break
        address = address[:-1]
    return address


def complete(address: str) -> str:
    if regex.match(r"(?i)[a-z][a-z0-9+.\-]*:(?!\d)", address):
        return address
    return f"mailto:{address}" if "@" in address.partition("/")[0] else f"http://{address}"


def key(address: str) -> str:
    whole = html.unescape(complete(address.strip()))
    scheme, _, rest = whole.partition(":")
    if scheme.lower() not in ("http", "https"):
        return f"{scheme.lower()}:{rest}"
    host, slash, path = rest.removeprefix("//").partition("/")
    return f"//{host.lower()}{slash}{path}".rstrip("/")


def destination(written: str) -> str:
    address = written.strip()
    if address.startswith("<") and address.endswith(">"):
        address = address[1:-1]
    return html.unescape(regex.sub(r"\\([!-/:-@\[-`{-~])", r"\1", address))


def in_parentheses(address: str) -> str:
    return (
        quote(address, safe="!#$%&'*+,-./:;=?@[]_~")
        if not address.isascii() or "(" in address or ")" in address
        else address
    )


def misleads(label: str, address: str) -> bool:
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", html.unescape(label)))
    plain = regex.sub("[\u3002\u2024\uff0e\uff61\u2219\u00b7]", ".", plain)
    found = [core(plain[start:end]) for start, end in addresses(plain)]
    if any("://" in each for each in found) and key(plain.strip()) != key(address):
        return True
    host = _host(complete(address))
    return any(_host(complete(each)) != host for each in found)


def _host(address: str) -> str:
    found = _HOST.match(address)
    return found.group(1).lower() if found else ""
