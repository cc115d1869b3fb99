from __future__ import annotations

import mimetypes
import mmap
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import getaddresses
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers._archives.nested_files import NestedFile, safe_name, sections
from rag_engine.parsers._archives.unpacking_limits import Unpacking
from rag_engine.parsers._ocr.ocr import PROGRAMS
from rag_engine.parsers._properties import text as text_properties
from rag_engine.parsers._shared.encoding import encoding_of, is_binary
from rag_engine.parsers._shared.sections import joined
from rag_engine.parsers.mail import ics
from rag_engine.parsers.mail._mail.body import (
    Envelope,
    best_body,
    envelope_section,
    flowed,
    is_encrypted,
    with_anchor,
)
from rag_engine.parsers.mail._mail.encodings import decoded, field_text
from rag_engine.parsers.mail._mail.mime import MimePart, message

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from rag_engine.types import Section

SUFFIXES: Final = "emlx mht mhtml"

__all__ = ["PROGRAMS", "message_sections", "parse", "properties", "within"]

_LARGEST_BODY: Final = 8 << 20
_LONGEST_FIELD: Final = 50_000
_HEAD: Final = 4_096
_LARGEST_WIDE: Final = 64 << 20
_EMLX: Final = re.compile(rb"\s*(\d{1,12})[ \t]*\r?\n")
_ENCRYPTED: Final = (
    "The message is encrypted, so it cannot be read; open it in your mail program, save its text without encryption "
    "and add that."
)
_NO_MESSAGE: Final = "The file is no e-mail message inside, or is damaged; save the message again."
_WITHIN_THE_MESSAGE: Final = frozenset({"text/plain", "text/html", "text/calendar", "text/enriched"})
_SIGNATURES: Final = frozenset(
    {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"}
    | {"application/pgp-keys", "text/x-amp-html", "text/vnd.wap.wml"}
)
_SUFFIXES: Final = {
    "message/rfc822": ".eml",
    "text/calendar": ".ics",
    "application/ms-tnef": ".dat",
    "text/plain": ".txt",
    "text/html": ".html",
    "message/delivery-status": ".txt",
}


@dataclass(slots=True)
class _Message:
    bodies: list[tuple[MimePart | None, MimePart | None]] = field(
        default_factory=list[tuple["MimePart | None", "MimePart | None"]]
    )
    invitations: list[MimePart] = field(default_factory=list["MimePart"])
    attachments: list[MimePart] = field(default_factory=list["MimePart"])
    pictures: list[MimePart] = field(default_factory=list["MimePart"])
    encrypted: bool = False


properties: Final = text_properties.mail


def parse(path: Path) -> Iterator[Section]:
    """Anchored "message", attachments "budget.xlsx › Budget!A2:D4"."""
    yield from within(path, Unpacking())


def within(path: Path, unpacking: Unpacking) -> Iterator[Section]:
    with _source(path) as source:
        stated = _EMLX.match(source)
        if stated is None:
            root = message(source)
        else:
            start = stated.end()
            root = message(source, start, min(start + int(stated[1]), len(source)))
        yield from message_sections(root, unpacking)


def message_sections(root: MimePart, unpacking: Unpacking) -> Iterator[Section]:
    """Raises `CorruptFile`, `EncryptedFile` and `EmptyDocument`."""
    yield from joined(_sections(root, unpacking))


@contextmanager
def _source(path: Path) -> Generator[bytes | mmap.mmap]:
    encoding = encoding_of(path) or ""
    with path.open("rb") as file:
        if encoding.startswith(("utf-16", "utf-32")):
            yield file.read(_LARGEST_WIDE).decode(encoding, "replace").encode("utf-8", "replace")
        else:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                yield content


def _sections(root: MimePart, unpacking: Unpacking) -> Iterator[Section]:
    if is_binary(root.source[root.first : min(root.first + _HEAD, root.start)]):
        raise CorruptFile(_NO_MESSAGE)
    sorted_out = _Message()
    _sort(root, sorted_out)
    sorted_out.attachments += _unreferenced(sorted_out)
    names = [_name(part, number) for number, part in enumerate(sorted_out.attachments, 1)]
    envelope = _envelope(root, names)
    bodies = list(_bodies(sorted_out))
    if sorted_out.encrypted and not bodies:
        raise EncryptedFile(_ENCRYPTED)
    if envelope.subject or envelope.sender or names:
        yield envelope_section(envelope)
    yield from with_anchor(bodies, envelope.subject)
    members = (
        NestedFile(name=name, chunks=part.chunks)
        for name, part in zip(names, sorted_out.attachments, strict=True)
    )
    yield from sections(members, unpacking, alone=False)


def _envelope(root: MimePart, attachments: list[str]) -> Envelope:
    headers = root.headers
    return Envelope(
        subject=field_text(headers.get("subject")),
        sender=", ".join(_people(root, "from")),
        to=_people(root, "to"),
        cc=_people(root, "cc"),
        date=field_text(headers.get("date")),
        attachments=[safe_name(name) for name in attachments],
    )


def _people(root: MimePart, header: str) -> list[str]:
    """A name is decoded separately, since it may contain a comma."""
    values = [str(value)[:_LONGEST_FIELD] for value in root.headers.get_all(header, [])]
    try:
        addresses = getaddresses(values)
    except RecursionError:
        addresses = []
    people = [f"{field_text(name)} <{address}>" if name else address for name, address in addresses]
    return [field_text(person) for person in people if person] or [field_text(value) for value in values]


def _sort(part: MimePart, found: _Message) -> None:
    kind = part.content_type
    if kind == "multipart/encrypted" or _is_enveloped(part, kind):
        found.encrypted = True
    elif kind == "multipart/alternative" and part.parts:
        _sort_alternatives(part, found)
    elif part.parts:
        first = part.parts[:1] if kind in {"multipart/signed", "multipart/appledouble"} else part.parts
        for inner in first:
            _sort(inner, found)
    elif kind in _SIGNATURES or _is_too_deep(part):
        return
    elif kind == "text/calendar":
        found.invitations.append(part)
    elif _is_body(part, kind):
        is_page = kind in {"text/html", "application/xhtml+xml"}
        found.bodies.append((None, part) if is_page else (part, None))
    elif _is_inline_picture(part, kind):
        found.pictures.append(part)
    else:
        found.attachments.append(part)


def _sort_alternatives(part: MimePart, found: _Message) -> None:
    within = _Message()
    for inner in part.parts:
        _sort(inner, within)
    plain = next((plain for plain, _ in within.bodies if plain is not None), None)
    page = next((page for _, page in within.bodies if page is not None), None)
    if plain is not None or page is not None:
        found.bodies.append((plain, page))
    found.invitations += within.invitations
    found.attachments += within.attachments
    found.pictures += within.pictures
    found.encrypted = found.encrypted or within.encrypted


def _is_enveloped(part: MimePart, kind: str) -> bool:
    if kind not in {"application/pkcs7-mime", "application/x-pkcs7-mime"}:
        return False
    return part.parameter("smime-type").lower() != "signed-data"


def _is_too_deep(part: MimePart) -> bool:
    boundary = part.parameter("boundary").strip()
    return part.is_multipart and bool(boundary) and f"--{boundary}".encode() in part.content(_HEAD)[:_HEAD]


def _disposition(part: MimePart) -> str:
    return (part.headers.get_content_disposition() or "").lower()


def _is_body(part: MimePart, kind: str) -> bool:
    if _disposition(part) == "attachment" or _own_name(part):
        return False
    return kind in _WITHIN_THE_MESSAGE or kind == "application/xhtml+xml" or kind.startswith("multipart/")


def _is_inline_picture(part: MimePart, kind: str) -> bool:
    """Phones send photos "inline", but with a name and no id."""
    if kind == "text/css":
        return True
    shown = "content-id" in part.headers or "content-location" in part.headers
    disposition = _disposition(part)
    return (
        kind.startswith(("image/", "font/"))
        and disposition != "attachment"
        and (shown or (disposition == "inline" and not _own_name(part)))
    )


def _unreferenced(found: _Message) -> list[MimePart]:
    sent = [part for part in found.pictures if _own_name(part) and "content-location" not in part.headers]
    pages = "".join(_text(page) for _, page in found.bodies) if sent else ""
    identifiers = (str(part.headers.get("content-id", "")).strip(" <>") for part in sent)
    return [
        part for part, known in zip(sent, identifiers, strict=True) if known and f"cid:{known}" not in pages
    ]


def _own_name(part: MimePart) -> str:
    return field_text(part.parameter("filename", "content-disposition") or part.parameter("name"))


def _name(part: MimePart, number: int) -> str:
    own = _own_name(part)
    if own:
        return own
    kind = part.content_type
    if kind == "message/rfc822":
        subject = field_text(message(part.source, part.start, part.end).headers.get("subject"))
        return f"{subject.replace('/', '-') or 'message'}.eml"
    return f"attachment {number}{_SUFFIXES.get(kind) or mimetypes.guess_extension(kind) or ''}"


def _bodies(found: _Message) -> Iterator[Section]:
    for plain, page in found.bodies:
        text, source = _text(plain), _text(page)
        if is_encrypted(text):
            found.encrypted = True
            continue
        yield from best_body(text, source)
    for part in found.invitations:
        yield from ics.calendar_sections(_text(part))


def _text(part: MimePart | None) -> str:
    if part is None:
        return ""
    content, charset = part.content(_LARGEST_BODY), part.parameter("charset")
    if not charset and is_binary(content[:_HEAD]):
        return ""
    text = decoded(content, charset)
    if part.parameter("format").lower() == "flowed":
        return flowed(text, delete_space=part.parameter("delsp").lower() == "yes")
    return text
