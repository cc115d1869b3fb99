"""MIME parts as byte ranges, so that nesting cannot overflow the stack."""

from __future__ import annotations

import binascii
import re
import string
from dataclasses import dataclass, field
from email.message import Message
from email.parser import HeaderParser
from email.policy import compat32
from typing import TYPE_CHECKING, Final

from rag_engine.parsers.mail._mail.encodings import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap

_DEEPEST: Final = 200
_MOST_SEARCHED: Final = 2 << 30
_MOST_PARTS: Final = 2_000
_LONGEST_HEADERS: Final = 256 << 10
_BLOCK: Final = 1 << 20
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n|\r\n?\r\n?|\A\r?\n")
_FIELD: Final = re.compile(rb"[!-9;-~]+[ \t]*:")
_MBOX_LINE: Final = re.compile(rb"(?:[ \t\r\n]*\n)?>?From [^\r\n]*\r?\n|\s+")
_REST_OF_LINE: Final = re.compile(rb"(--)?[ \t]*(?:\r?\n|\Z)")
_BASE64: Final = string.ascii_letters.encode() + string.digits.encode() + b"+/"
_NOT_BASE64: Final = bytes(range(256)).translate(None, _BASE64)


@dataclass(frozen=True, slots=True)
class MimePart:
    headers: Message
    source: bytes | mmap
    start: int
    end: int
    parts: list[MimePart] = field(default_factory=list["MimePart"])
    first: int = 0

    @property
    def content_type(self) -> str:
        return self.headers.get_content_type()

    @property
    def is_multipart(self) -> bool:
        return self.headers.get_content_maintype() == "multipart"

    def parameter(self, name: str, header: str = "content-type") -> str:
        """A raw parameter, with continuations joined (RFC 2231)."""
        value = self.headers.get_param(name, header=header)
        if isinstance(value, tuple):
            charset, _, text = value
            return text.encode("latin-1", "replace").decode(_known(charset), "replace")
        return value if isinstance(value, str) else ""

    def chunks(self) -> Iterator[bytes]:
        encoding = str(self.headers.get("content-transfer-encoding", "")).strip().lower()
        if encoding == "base64":
            yield from _base64(self._blocks())
        elif encoding == "quoted-printable":
            yield from _quoted_printable(self._blocks())
        elif encoding in {"x-uuencode", "uuencode", "x-uue"}:
            yield from _uuencoded(self._blocks())
        else:
            yield from self._blocks()

    def content(self, most: int) -> bytes:
        content = bytearray()
        for chunk in self.chunks():
            content += chunk
            if len(content) > most:
                break
        return bytes(content)

    def _blocks(self) -> Iterator[bytes]:
        for at in range(self.start, self.end, _BLOCK):
            yield self.source[at : min(at + _BLOCK, self.end)]


def message(source: bytes | mmap, start: int = 0, end: int | None = None) -> MimePart:
    end = len(source) if end is None else end
    lead = _MBOX_LINE.match(source, start, end)
    root = _part(source, lead.end() if lead is not None else start, end)
    waiting = [(root, 0)]
    found = searched = 0
    while waiting:
        part, depth = waiting.pop()
        boundary = part.parameter("boundary").strip()
        if not boundary or not part.is_multipart:
            continue
        searched += part.end - part.start
        for first, last in _between(source, boundary, part.start, part.end):
            inner = _part(source, first, last)
            found += 1
            if found > _MOST_PARTS or searched > _MOST_SEARCHED:
                return root
            if depth < _DEEPEST or not inner.is_multipart:
                part.parts.append(inner)
        waiting += [(inner, depth + 1) for inner in part.parts]
    return root


def _part(source: bytes | mmap, start: int, end: int) -> MimePart:
    if _FIELD.match(source, start, end) is None:
        blank = re.compile(rb"\r?\n").match(source, start, end)
        return MimePart(Message(compat32), source, blank.end() if blank else start, end)
    gap = _BLANK_LINE.search(source, start, min(end, start + _LONGEST_HEADERS))
    stop, body = (gap.start(), gap.end()) if gap is not None else (min(end, start + _LONGEST_HEADERS),) * 2
    text = decoded(source[start:stop], "")
    return MimePart(
        HeaderParser(policy=compat32).parsestr(text + "\n\n", headersonly=True),
        source,
        body,
        end,
        first=start,
    )


def _between(source: bytes | mmap, boundary: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    mark = b"--" + boundary.encode("utf-8", "replace")
    first = None
    at = source.find(mark, start, end)
    while at >= 0:
        rest = _REST_OF_LINE.match(source, at + len(mark), end)
        if rest is None or (at > start and source[at - 1 : at] != b"\n"):
            at = source.find(mark, at + 1, end)
            continue
        if first is not None:
            yield first, _without_line_end(source, first, at)
        first = rest.end()
        if rest[1] is not None:
            return
        at = source.find(mark, max(first - 1, at + 1), end)
    if first is not None and first < end:
        yield first, end


def _without_line_end(source: bytes | mmap, start: int, end: int) -> int:
    if end > start and source[end - 1 : end] == b"\n":
        end -= 1
    return end - 1 if end > start and source[end - 1 : end] == b"\r" else end


def _base64(blocks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        letters = rest + block.translate(None, _NOT_BASE64)
        whole = len(letters) // 4 * 4
        rest = letters[whole:]
        if whole:
            yield binascii.a2b_base64(letters[:whole])
    if len(rest) > 1:
        yield binascii.a2b_base64(rest + b"=" * (4 - len(rest)))


def _quoted_printable(blocks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        lines, feed, rest = (rest + block).rpartition(b"\n")
        if feed:
            yield binascii.a2b_qp(lines + feed)
    yield binascii.a2b_qp(rest)


def _uuencoded(blocks: Iterator[bytes]) -> Iterator[bytes]:
    for line in b"".join(blocks).splitlines():
        if line.startswith(b"begin "):
            continue
        if line.strip() == b"end":
            return
        try:
            yield binascii.a2b_uu(line)
        except binascii.Error:
            continue


def _known(charset: str | None) -> str:
    try:
        "".encode(charset or "ascii")
    except LookupError:
        return "utf-8"
    return charset or "ascii"
