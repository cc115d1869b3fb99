from __future__ import annotations

import re
from dataclasses import replace
from email.utils import getaddresses
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile, EmptyDocument, EncryptedFile
from rag_engine.parsers._archives.nested_files import SEPARATOR, NestedFile, safe_name, sections
from rag_engine.parsers._archives.unpacking_limits import Unpacking
from rag_engine.parsers._ocr.ocr import PROGRAMS
from rag_engine.parsers._shared.ole import open_ole
from rag_engine.parsers._shared.sections import joined
from rag_engine.parsers.documents import rtf
from rag_engine.parsers.mail._mail.body import Envelope, best_body, envelope_section, with_anchor
from rag_engine.parsers.mail._mail.encodings import decoded
from rag_engine.parsers.mail._mail.mime import message
from rag_engine.parsers.mail._mail.msg_properties import MsgStorage, decompressed
from rag_engine.parsers.mail.eml import message_sections

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.parsers._shared.ole import Ole
    from rag_engine.types import Section

STREAMS: Final = "__properties_version1.0"

__all__ = ["PROGRAMS", "parse", "properties", "within"]

_SUBJECT, _CLASS, _SENDER, _SENDER_ADDRESS, _SENDER_OTHER = 0x0037, 0x001A, 0x0C1A, 0x5D01, 0x0C1F
_TO, _CC, _BODY, _RTF, _HTML, _CODE_PAGE = 0x0E04, 0x0E03, 0x1000, 0x1009, 0x1013, 0x3FDE
_SENT, _DELIVERED = 0x0039, 0x0E06
_DATA, _LONG_NAME, _NAME, _DISPLAY_NAME, _CONTENT_ID, _HIDDEN = 0x3701, 0x3707, 0x3704, 0x3001, 0x3712, 0x7FFE
_RECIPIENT_NAME, _RECIPIENT_ADDRESS, _RECIPIENT_KIND = 0x3001, 0x39FE, 0x0C15
_EMBEDDED: Final = "__substg1.0_3701000D"
_PICTURE: Final = re.compile(r"\.(?:png|jpe?g|gif|bmp|emf|wmf|svg)$", re.IGNORECASE)
_MOST_ATTACHMENTS: Final = 1_000
_ENCRYPTED: Final = "The message is encrypted, so it cannot be read; open it in Outlook, save its text without encryption and add that."


def parse(path: Path) -> Iterator[Section]:
    """Anchored "message", attachments "budget.xlsx › Budget!A2:D4"."""
    yield from within(path, Unpacking())


def properties(path: Path) -> dict[str, list[str]]:
    with open_ole(path) as container:
        envelope = _envelope(MsgStorage(container, (), 32), [])
    people = {"author": [envelope.sender], "to": envelope.to, "cc": envelope.cc}
    found = {
        key: [name or address for name, address in getaddresses(list(each))] for key, each in people.items()
    }
    found |= {"subject": [envelope.subject], "created": [envelope.date]}
    return {key: values for key, values in found.items() if any(values)}


def within(path: Path, unpacking: Unpacking) -> Iterator[Section]:
    with open_ole(path) as container:
        yield from joined(_message(container, (), unpacking))


def _message(container: Ole, path: tuple[str, ...], unpacking: Unpacking) -> Iterator[Section]:
    storage = MsgStorage(container, path, 24 if path else 32)
    kind = storage.text(_CLASS).upper()
    attachments = _storages(container, path, "__attach_version1.0_#")
    if kind.startswith("IPM.NOTE.SMIME"):
        yield from _signed(attachments, unpacking, signed="MULTIPARTSIGNED" in kind)
        return
    sent = [attachment for attachment in attachments if not _is_inline(attachment)]
    names = [_name(attachment, number) for number, attachment in enumerate(sent, 1)]
    envelope = _envelope(storage, names)
    yield envelope_section(envelope)
    yield from with_anchor(_body(storage), envelope.subject)
    embedded = [container.exists([*attachment.path, _EMBEDDED]) for attachment in sent]
    yield from sections(
        (
            NestedFile(name=name, chunks=lambda attachment=attachment: iter((attachment.content(_DATA),)))
            for name, attachment, is_message in zip(names, sent, embedded, strict=True)
            if not is_message
        ),
        unpacking,
        alone=False,
    )
    for name, attachment, is_message in zip(names, sent, embedded, strict=True):
        if is_message:
            yield from _embedded(container, attachment, safe_name(name), unpacking.deeper())


def _embedded(container: Ole, attachment: MsgStorage, name: str, unpacking: Unpacking) -> Iterator[Section]:
    unpacking.begin()
    try:
        for section in _message(container, (*attachment.path, _EMBEDDED), unpacking):
            anchor = f"{name}{SEPARATOR}{section.anchor}" if section.anchor else name
            yield replace(section, anchor=anchor, headings=(name, *section.headings))
    except (EmptyDocument, EncryptedFile):
        return


def _signed(attachments: list[MsgStorage], unpacking: Unpacking, *, signed: bool) -> Iterator[Section]:
    content = attachments[0].content(_DATA) if attachments else b""
    if not signed or not content:
        raise EncryptedFile(_ENCRYPTED)
    yield from message_sections(message(content), unpacking)


def _envelope(storage: MsgStorage, attachments: list[str]) -> Envelope:
    recipients = _storages(storage.container, storage.path, "__recip_version1.0_#")
    named = [(recipient.number(_RECIPIENT_KIND), _person(recipient)) for recipient in recipients]
    sender = storage.text(_SENDER)
    address = storage.text(_SENDER_ADDRESS, _SENDER_OTHER)
    return Envelope(
        subject=storage.text(_SUBJECT),
        sender=f"{sender} <{address}>"
        if sender and "@" in address and address != sender
        else sender or address,
        to=[person for kind, person in named if kind == 1] or storage.text(_TO).split("; "),
        cc=[person for kind, person in named if kind == 2] or storage.text(_CC).split("; "),
        date=storage.time(_SENT, _DELIVERED),
        attachments=[safe_name(name) for name in attachments],
    )


def _person(recipient: MsgStorage) -> str:
    name, address = recipient.text(_RECIPIENT_NAME), recipient.text(_RECIPIENT_ADDRESS)
    return f"{name} <{address}>" if name and address and name != address else name or address


def _body(storage: MsgStorage) -> list[Section]:
    plain = storage.text(_BODY)
    content = storage.content(_HTML)
    page = decoded(content, _declared(storage)) if content else storage.text(_HTML)
    compressed = storage.content(_RTF)
    if not page and compressed:
        try:
            text = decompressed(compressed)
            return best_body(plain, rtf.wrapped_html(text)) if rtf.is_html(text) else list(rtf.sections(text))
        except CorruptFile:
            return best_body(plain, "")
    return best_body(plain, page)


def _declared(storage: MsgStorage) -> str:
    page = storage.number(_CODE_PAGE)
    return {0: "", 65001: "utf-8", 28591: "iso-8859-1"}.get(page, f"cp{page}")


def _is_inline(attachment: MsgStorage) -> bool:
    picture = _PICTURE.search(attachment.text(_LONG_NAME, _NAME)) is not None
    return bool(attachment.number(_HIDDEN)) or (picture and bool(attachment.text(_CONTENT_ID)))


def _name(attachment: MsgStorage, number: int) -> str:
    name = attachment.text(_LONG_NAME, _NAME)
    if name:
        return name
    title = attachment.text(_DISPLAY_NAME)
    if attachment.container.exists([*attachment.path, _EMBEDDED]):
        return f"{title.replace('/', '-') or f'message {number}'}.msg"
    return title or f"attachment {number}"


def _storages(container: Ole, path: tuple[str, ...], prefix: str) -> list[MsgStorage]:
    depth = len(path)
    names = {
        entry[depth]
        for entry in container.listdir(streams=False, storages=True)
        if len(entry) == depth + 1 and tuple(entry[:depth]) == path and entry[depth].startswith(prefix)
    }
    return [MsgStorage(container, (*path, name), 8) for name in sorted(names)[:_MOST_ATTACHMENTS]]
