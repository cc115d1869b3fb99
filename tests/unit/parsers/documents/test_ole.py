"""Old Word files and Outlook messages, both OLE files."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from rag_engine import plugins
from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers.documents._doc.properties import paragraph_properties, text_is_unseen
from rag_engine.parsers.mail._mail.msg_properties import decompressed
from rag_engine.parsing.formats import FAMILY
from rag_engine.parsing.media_types import parser_name
from tests.unit.parsers.files import CHINESE, GERMAN
from tests.unit.parsers.ole_files import attachment, ole, outlook, record, record_text, word

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Section


def _read(folder: Path, content: bytes, name: str) -> list[Section]:
    path = folder / name
    path.write_bytes(content)
    return list(plugins.load(FAMILY, parser_name(path, name)).parse(path))


def test_paragraphs_tables_and_fields_of_a_word_document(tmp_path: Path) -> None:
    text = (
        f"{GERMAN}\rSee \x13 HYPERLINK http://x \x14the page\x15.\x13 TOC \\o \x14Leave 3\rSick 4\x15\r"
        f"A\x07B\x07\x07C\x07{CHINESE}\x07\x07Last\x0bline \x01\x08\x02\r"
    )
    first, table, last = _read(tmp_path, word(text, notes="\x02 A note.\r\r"), "old.doc")[:3]
    assert first.text == f"{GERMAN}\n\nSee the page."
    assert (table.kind, table.text) == ("table", f"A | B\nC | {CHINESE}")
    assert last.text == "Last\nline"
    *_, note = _read(tmp_path, word(text, notes="\x02 A note.\r\r"), "old.doc")
    assert (note.anchor, note.text) == ("footnote 1", "Footnote 1: A note.")


def test_a_byte_a_character(tmp_path: Path) -> None:
    assert _read(tmp_path, word("Café – 5 €\r", narrow=True), "old.doc")[0].text == "Café – 5 €"


def test_locked_and_damaged_word_documents(tmp_path: Path) -> None:
    with pytest.raises(EncryptedFile):
        _read(tmp_path, word("x\r", encrypted=True), "old.doc")
    with pytest.raises(CorruptFile):
        _read(
            tmp_path,
            ole({"WordDocument": b"\xec\xa5\xc1\0" + bytes(8) + b"\xff" * 2_000, "0Table": b""}),
            "old.doc",
        )
    with pytest.raises(CorruptFile):
        _read(tmp_path, word("words\r")[:700], "old.doc")


def test_properties_of_paragraphs_and_text() -> None:
    own = struct.pack("<HBHHHB", 0x2416, 1, 0x460B, 3, 0x260A, 2)
    found = paragraph_properties(struct.pack("<H", 7) + own)
    assert (found.style, found.in_table, found.listed, found.level) == (7, True, True, 2)
    assert text_is_unseen(struct.pack("<HB", 0x083C, 1))
    assert not text_is_unseen(struct.pack("<HBHB", 0x0835, 1, 0x0800, 0))
    assert paragraph_properties(b"\1\0\x08\xd6\xff\xff\0").style == 1


_TEXTS = {
    0x0037: "Budget 会议",
    0x0C1A: "Zoë",
    0x5D01: "zoe@example.org",
    0x0E04: "Team; Bob",
    0x1000: f"{GERMAN}\r\n",
}


def test_an_outlook_message_with_attachments(tmp_path: Path) -> None:
    more = attachment(0, "notes.md", b"# Leave\n\nThirty days.") | attachment(1, "run.exe", b"MZ\0\1" * 2_000)
    inner = "__attach_version1.0_#00000002"
    more |= {
        f"{inner}/__properties_version1.0": bytes(8),
        f"{inner}/__substg1.0_3001001F": "Old mail".encode("utf-16-le"),
    }
    more |= {
        f"{inner}/__substg1.0_3701000D/__properties_version1.0": bytes(24),
        f"{inner}/__substg1.0_3701000D/__substg1.0_1000001F": "Forwarded words.".encode("utf-16-le"),
    }
    sections = _read(tmp_path, outlook(_TEXTS, more=more), "mail.msg")
    assert sections[0].text.split("\n") == [
        "Subject: Budget 会议",
        "From: Zoë <zoe@example.org>",
        "To: Team, Bob",
        "Attachments: notes.md, run.exe, Old mail.msg",
        "",
        GERMAN,
    ]
    places = {section.anchor: section.text for section in sections}
    assert "notes.md › § Leave" in places
    assert places["Old mail.msg › message"] == "Forwarded words."
    assert [section.text for section in sections if section.kind == "notice"] == [
        "1 of 2 files in it could not be read: run.exe (of a kind that is not read)."
    ]


def test_the_body_as_html_and_as_compressed_rtf(tmp_path: Path) -> None:
    bare = {number: text for number, text in _TEXTS.items() if number != 0x1000}
    page = "<h1>Plan</h1><p>Café</p>".encode()
    assert _read(tmp_path, outlook(bare, {0x1013: page}), "a.msg")[-1].headings == ("Budget 会议", "Plan")
    wrapped = rb"{\rtf1\ansi\fromhtml1 {\*\htmltag64 <p>}Wrapped caf\'e9{\*\htmltag72 </p>}}"
    raw = struct.pack("<LL4sL", len(wrapped) + 12, len(wrapped), b"MELA", 0) + wrapped
    assert _read(tmp_path, outlook(bare, {0x1009: raw}), "a.msg")[-1].text.endswith("Wrapped café")


def test_compressed_rtf_is_unpacked() -> None:
    # The example of [MS-OXRTFCP] 3.1.
    expected = b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    example = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a00726370673132354232 0af3 2068656c09002062770 5b06c647d0a800fa0".replace(
            " ", ""
        )
    )
    assert decompressed(example) == expected


def test_signed_and_encrypted_messages_of_outlook(tmp_path: Path) -> None:
    signed = b"Content-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\nSigned words.\r\n--b--\r\n"
    texts = {**_TEXTS, 0x001A: "IPM.Note.SMIME.MultipartSigned"}
    # Outlook stores the whole message as the only attachment.
    message = outlook(texts, more=attachment(0, "smime.p7m", signed))
    assert _read(tmp_path, message, "a.msg")[0].text.rstrip("\0").endswith("Signed words.")
    with pytest.raises(EncryptedFile, match="Outlook"):
        _read(tmp_path, outlook({**_TEXTS, 0x001A: "IPM.Note.SMIME"}), "a.msg")


def test_slides_of_an_old_presentation_in_their_order(tmp_path: Path) -> None:
    box = record(0x03EE, record_text(4, "Boxed words"), container=True)
    note = record(
        0x03F0, record(0x03F1, struct.pack("<LL", 257, 0)) + record_text(2, "Slowly."), container=True
    )
    slides = b"".join(
        record(0x03F3, struct.pack("<5L", number + 1, 0, 0, 256 + number, 0)) + texts
        for number, texts in enumerate(
            [record_text(0, "Kick-off") + record_text(1, GERMAN), record_text(6, CHINESE)]
        )
    )
    listed = record(0x0FF0, slides, container=True)
    listed += record(0x0FF0, record(0x03F3, struct.pack("<5L", 9, 0, 0, 256, 0)), instance=2, container=True)
    places = struct.pack("<4L", 1 << 20 | 2, 0, 1 << 20 | 9, len(box))
    content = box + note + record(0x03E8, listed, container=True) + record(0x1772, places)
    sections = _read(tmp_path, ole({"PowerPoint Document": content}), "old.ppt")
    assert [(section.anchor, section.text, section.headings) for section in sections] == [
        ("slide 1", f"Kick-off\n\n{GERMAN}", ("Kick-off",)),
        ("slide 2", f"{CHINESE}\n\nBoxed words", (CHINESE,)),
        ("slide 2, notes", "Slowly.", (CHINESE, "Notes")),
    ]
