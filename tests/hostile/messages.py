"""Hostile messages, text documents of other programs, and archives of other kinds."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import struct
import tarfile
from typing import TYPE_CHECKING, Final

from tests.hostile.archives import zipped
from tests.unit.parsers.ole_files import attachment, ole, outlook, word

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMESPACES: Final = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in [("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing")]
)


def opendocument(body: str, kind: str = "text", prolog: str = "") -> bytes:
    """A text document or slides with this body."""
    content = (
        f"{prolog}<office:document-content {_NAMESPACES}><office:body><office:{kind}>{body}</office:{kind}>"
        "</office:body></office:document-content>"
    )
    media_type = {"text": "text", "presentation": "presentation"}[kind]
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{media_type}".encode(),
            "content.xml": content.encode(),
        }
    )


def rtf(body: str) -> bytes:
    return (r"{\rtf1\ansi{\fonttbl{\f0 A;}}" + body + "}").encode("ascii")


def many_in_tar(count: int) -> bytes:
    """Countless empty files, and a name that claims to be a gigabyte long."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as packed:
        for number in range(count):
            packed.addfile(tarfile.TarInfo(f"{number}.txt"))
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = b"L", 1 << 30
    return gzip.compress(content.getvalue()[:-10_240] + header.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20), 1)


def multiparts(levels: int) -> bytes:
    return b"Subject: x\n" + b"".join(
        f"Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n".encode()
        for level in range(levels)
    )


def message_with(attached: bytes, name: str) -> bytes:
    """A message with one attachment."""
    body = base64.encodebytes(attached)
    head = f'Subject: x\nContent-Disposition: attachment; filename="{name}"\nContent-Transfer-Encoding: base64\n\n'
    return head.encode() + body


def chained_messages(levels: int) -> bytes:
    """A message in a message in a message."""
    content = b"Subject: innermost\n\nwords"
    for _ in range(levels):
        content = (
            b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\n"
            + content
        )
    return content


def looped_pieces() -> bytes:
    """A Word document whose pieces of text are all the same bytes."""
    content = bytearray(word("words and more words\r" * 400))
    count = 20_000
    pieces = b"".join(struct.pack("<L", number * 8_000) for number in range(count + 1))
    pieces += struct.pack("<HLH", 0, 0x300, 0) * count
    clx = b"\2" + struct.pack("<L", len(pieces)) + pieces
    header = bytearray(content[512 : 512 + 0x300])
    struct.pack_into("<2L", header, 0x1A2, 0, len(clx))
    struct.pack_into("<L", header, 0x4C, count * 8_000)
    return ole({"WordDocument": bytes(header) + b"words " * 4_000, "1Table": clx})


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "deep.odt": lambda: opendocument(
        "<text:list><text:list-item>" * 50_000 + "<text:p>x</text:p>" + "</text:list-item></text:list>" * 50_000
    ),
    "repeated.odt": lambda: opendocument(
        '<table:table><table:table-row table:number-rows-repeated="1048576"><table:table-cell '
        'table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row></table:table>' * 50
    ),
    "spaces.odt": lambda: opendocument('<text:p><text:s text:c="2000000000"/>x</text:p>' * 1_000),
    "laughs.odt": lambda: opendocument("<text:p>&b;</text:p>", prolog='<!DOCTYPE a [<!ENTITY b "bb">]>'),
    "paragraphs.odt": lambda: opendocument("<text:p/>" * 4_000_000),
    "slides.odp": lambda: opendocument("<draw:page/>" * 1_000_000, "presentation"),
    "groups.odp": lambda: opendocument(
        "<draw:page>" + "<draw:g>" * 100_000 + "</draw:g>" * 100_000 + "</draw:page>", "presentation"
    ),
    "braces.rtf": lambda: rtf("{" * 20_000_000),
    "closing.rtf": lambda: rtf("}" * 20_000_000),
    "codes.rtf": lambda: rtf(r"\'e9" * 3_000_000),
    "cells.rtf": lambda: rtf(r"\trowd\cellx1 a\cell" * 300_000),
    "rows.rtf": lambda: rtf(r"\trowd\cellx1 \pard\intbl a\cell b\cell\row" * 200_000),
    "notes.rtf": lambda: rtf(r"{\footnote x}" * 200_000),
    "picture.rtf": lambda: rtf(r"{\pict " + "0f" * (50 << 20) + "} words"),
    "deep.eml": lambda: multiparts(5_000) + b"words",
    "parts.eml": lambda: b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 1_000_000,
    "field.eml": lambda: b"Subject: " + b"=?utf-8?q?x?= " * 5_000_000 + b"\n\nwords",
    "fields.eml": lambda: b"X: y\n" * 10_000_000 + b"\n\nwords",
    "people.eml": lambda: b"To: " + b"a <a@x>, (" * 20_000 + b"\n\nwords",
    "lines.eml": lambda: b"Subject: x\n\n" + b"> \n\n" * 10_000_000,
    "base64.eml": lambda: message_with(b"words " * (4 << 20), "words.txt"),
    "bomb.eml": lambda: message_with(zipped({"a.txt": b"a \n" * (60 << 20)}), "a.zip"),
    "chained.eml": lambda: chained_messages(2_000),
    "words.mbox": lambda: b"From a\nSubject: x\n\ny\n\n" * 300_000,
    "long.ics": lambda: b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x\n" + b" y\n" * 10_000_000 + b"END:VEVENT\n",
    "pieces.doc": looped_pieces,
    "lies.doc": lambda: ole({"WordDocument": b"\xec\xa5\xc1\0" + bytes(8) + b"\xff" * 90_000, "0Table": b"\2" * 9_000}),
    "attachments.msg": lambda: outlook(
        {0x0037: "x"}, more={name: data for number in range(300) for name, data in attachment(number, "a.txt", b"x").items()}
    ),
    "compressed.msg": lambda: outlook(
        {0x0037: "x"}, {0x1009: struct.pack("<LL4sL", 1 << 25, 60 << 20, b"LZFu", 0) + b"\0" + bytes(range(256)) * 16_000}
    ),
    "many.tar.gz": lambda: many_in_tar(20_000),
    "zeros.gz": lambda: gzip.compress(bytes(100 << 20), 1),
    "zeros.bz2": lambda: bz2.compress(bytes(100 << 20)),
    "zeros.xz": lambda: lzma.compress(bytes(100 << 20), preset=0),
    "contents.epub": lambda: zipped(
        {
            "META-INF/container.xml": b'<container><rootfile full-path="a.opf"/></container>',
            "a.opf": b'<package><manifest><item id="n" href="n" properties="nav"/></manifest><spine>'
            + b'<itemref idref="n"/>' * 300_000
            + b"</spine></package>",
            "n": b"<nav>" + b"<ol><li><span>x</span>" * 200 + b"</li></ol>" * 200 + b"</nav>",
        }
    ),
}  # fmt: skip
