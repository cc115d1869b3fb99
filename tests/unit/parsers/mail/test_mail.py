"""E-mail in any encoding with attachments; mailboxes, calendars and contacts."""

from __future__ import annotations

from email.message import EmailMessage
from typing import TYPE_CHECKING

import pytest

from rag_engine import plugins
from rag_engine.errors import EmptyDocument, EncryptedFile
from rag_engine.parsing.formats import FAMILY
from rag_engine.parsing.media_types import parser_name
from tests.unit.parsers.files import CHINESE, GERMAN, write_xlsx, zip_of

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Section


def _read(folder: Path, content: bytes | str | EmailMessage, name: str = "mail.eml") -> list[Section]:
    path = folder / name
    if isinstance(content, EmailMessage):
        content = content.as_bytes()
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(plugins.load(FAMILY, parser_name(path, name)).parse(path))


def _mail(**headers: str) -> EmailMessage:
    mail = EmailMessage()
    for name, value in {"Subject": "Budget", "From": "Zoë <zoe@example.org>", **headers}.items():
        mail[name] = value
    return mail


def test_the_envelope_and_the_body_are_the_message(tmp_path: Path) -> None:
    mail = _mail(To="team@example.org", Date="Fri, 20 Nov 2026 08:00:00 +0000", Subject="Réunion 会议")
    mail.set_content(f"{GERMAN}\n\n> Why?\n> > Because.\n\nZoë")
    first, quoted, last = _read(tmp_path, mail)
    assert first.text.split("\n") == [
        "Subject: Réunion 会议",
        "From: Zoë <zoe@example.org>",
        "To: team@example.org",
        "Date: Fri, 20 Nov 2026 08:00:00 +0000",
        "",
        GERMAN,
    ]
    assert (first.anchor, first.headings) == ("message", ("Réunion 会议",))
    assert (quoted.text, quoted.headings) == ("Why?\nBecause.", ("Réunion 会议", "Earlier message"))
    assert last.text == "Zoë"


def test_attachments_are_documents_with_their_own_anchors(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "budget.xlsx")
    inner = _mail(Subject="Inner")
    inner.set_content("Forwarded words.")
    mail = _mail()
    mail.set_content("See the table.")
    mail.add_attachment(
        (tmp_path / "budget.xlsx").read_bytes(),
        maintype="application",
        subtype="vnd.ms-excel",
        filename="März.xlsx",
    )
    mail.add_attachment(inner)
    mail.add_attachment(
        b"MZ\x90\0" * 99, maintype="application", subtype="octet-stream", filename="../../run.exe"
    )
    mail.add_attachment(
        b"\x89PNG\r\n\x1a\n", maintype="image", subtype="png", cid="<logo>", disposition="inline"
    )
    sections = _read(tmp_path, mail)
    places = {section.anchor for section in sections}
    assert {"message", "Inner.eml › message"} < places
    assert any(place.startswith("März.xlsx › Budget!A") for place in places)
    assert "Attachments: März.xlsx, Inner.eml, run.exe" in sections[0].text
    assert [section.text for section in sections if section.kind == "notice"] == [
        "1 of 3 files in it could not be read: run.exe (of a kind that is not read)."
    ]


@pytest.mark.parametrize(
    ("charset", "encoding", "text"),
    [
        ("windows-1255", "cp1255", "שלום לכולם, הישיבה נדחתה"),
        ("us-ascii", "utf-8", CHINESE),
        ("gb2312", "gb18030", "会议纪要：朱镕基的报告在三月发布"),
        ("iso-8859-1", "cp1252", "Preis: 5 € – fällig"),
        ("x-unknown", "utf-8", GERMAN),
        ("iso-2022-jp", "iso2022_jp", "会議は金曜日です"),
    ],
)
def test_wrong_character_sets(tmp_path: Path, charset: str, encoding: str, text: str) -> None:
    head = f"Subject: x\nContent-Type: text/plain; charset={charset}\n\n"
    assert _read(tmp_path, head.encode() + text.encode(encoding))[0].text.endswith(text)


def test_bare_bytes_and_encoded_words_in_fields(tmp_path: Path) -> None:
    words = "=?utf-8?B?5Lya?= =?utf-8?B?6K6u?= =?bad?Q?x=E9?= =?utf-8?Q?=C3"
    sections = _read(
        tmp_path, f"Subject: {words}\nFrom: =?iso-8859-1?Q?M=FCller=2C_Jo?= <j@x.org>\n\nText".encode()
    )
    assert "From: Müller, Jo <j@x.org>" in sections[0].text
    assert sections[0].text.startswith("Subject: 会议")
    assert "Subject: Größe" in _read(tmp_path, "Subject: Größe\n\nText".encode())[0].text


def test_html_is_read_if_the_plain_text_is_a_stub_or_loses_a_table(tmp_path: Path) -> None:
    mail = _mail()
    mail.set_content("Please use an HTML viewer.")
    mail.add_alternative("<h1>Plan</h1><p>" + "The words are here. " * 20 + "</p>", subtype="html")
    assert any(section.headings == ("Budget", "Plan") for section in _read(tmp_path, mail))
    mail = _mail()
    mail.set_content("Your mail program does not show HTML; open this in a browser.")
    mail.add_alternative(
        "<p>Order 77 is delivered to Zoë in Köln on 3 June, please ring.</p>", subtype="html"
    )
    assert _read(tmp_path, mail)[0].text.endswith("please ring.")
    mail = _mail()
    mail.set_content("Office Days Köln 30")
    rows = "<tr><th>Office</th><th>Days</th></tr><tr><td>Köln</td><td>30</td></tr>"
    mail.add_alternative(f"<table>{rows}</table>", subtype="html")
    assert [section.text for section in _read(tmp_path, mail) if section.kind == "table"] == [
        "Office | Days\nKöln | 30"
    ]


def test_flowed_lines_are_paragraphs(tmp_path: Path) -> None:
    mail = "Content-Type: text/plain; format=flowed\n\none \ntwo \nthree\nfour\n"
    assert _read(tmp_path, mail)[0].text == "one two three\nfour"


@pytest.mark.parametrize(
    "body",
    [
        "Content-Type: multipart/encrypted; boundary=b\n\n--b\n\nVersion: 1\n--b\n\n-----BEGIN PGP MESSAGE-----\n--b--",
        "Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nMIAGCSqGSIb3DQEHA6CA",
        "\n-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----",
    ],
)
def test_encrypted_messages_are_reported(tmp_path: Path, body: str) -> None:
    with pytest.raises(EncryptedFile, match="encrypted"):
        _read(tmp_path, f"Subject: secret\n{body}")


def test_signed_messages_are_read_without_their_signature(tmp_path: Path) -> None:
    parts = "--b\nContent-Type: text/plain\n\nSigned words.\n--b\nContent-Type: application/pgp-signature\n\nxyz\n--b--"
    [section] = _read(tmp_path, f"Subject: s\nContent-Type: multipart/signed; boundary=b\n\n{parts}")
    assert section.text == "Subject: s\n\nSigned words."


def test_invitations_have_time_and_place(tmp_path: Path) -> None:
    event = (
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Kick-\r\n off\r\nDTSTART;TZID=Europe/Berlin:20261120T090000\r\n"
        "LOCATION:Room 7\\, Köln\r\nORGANIZER;CN=Zoë:mailto:z@x.org\r\nBEGIN:VALARM\r\nDESCRIPTION:alarm\r\nEND:VALARM\r\n"
        "END:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    [section] = _read(tmp_path, event, "invite.ics")
    assert section.text == (
        "Event: Kick-off\nStart: 2026-11-20 09:00 (Europe/Berlin)\nPlace: Room 7, Köln\nOrganizer: Zoë <z@x.org>"
    )
    mail = _mail()
    mail.set_content("You are invited.")
    mail.add_alternative(event, subtype="calendar")
    assert any("Place: Room 7, Köln" in section.text for section in _read(tmp_path, mail))


def test_contacts(tmp_path: Path) -> None:
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:Zoë Maier\nORG:ACME;Sales\nTEL;TYPE=work:+49 221 7\nADR:;;Ring 1;Köln;;50667;\nPHOTO:xxxx\nEND:VCARD\n"
    [section] = _read(tmp_path, card, "z.vcf")
    assert (
        section.text
        == "Zoë Maier\nOrganisation: ACME, Sales\nTelephone: +49 221 7\nAddress: Ring 1, Köln, 50667"
    )


def test_mailboxes_are_split_into_messages(tmp_path: Path) -> None:
    box = "From a@x Mon Jan 1\nSubject: one\n\nFirst.\n\nFrom here on it is text.\n\nFrom b@x Mon Jan 2\nSubject: two\n\nSecond.\n"
    first, second = _read(tmp_path, box, "all.mbox")
    assert (first.anchor, second.anchor) == ("message 1", "message 2")
    assert first.text.endswith("From here on it is text.")


def test_an_escaped_line_of_a_mailbox_is_not_a_quotation(tmp_path: Path) -> None:
    (section,) = _read(tmp_path, "From a@x Mon Jan 1\nSubject: one\n\nHello.\n>From here on.\n", "all.mbox")
    assert section.text.endswith("Hello.\nFrom here on.")


def test_photos_from_phones_are_attachments_and_logos_are_not(tmp_path: Path) -> None:
    mail = _mail()
    mail.set_content("See the receipt.")
    mail.add_alternative("<p>See the receipt.</p><img src='cid:logo@x'>", subtype="html")
    for name, identifier in (("IMG_1.jpeg", None), ("logo.png", "<logo@x>"), ("IMG_2.jpeg", "<2@x>")):
        mail.add_attachment(
            b"no picture", "image", "jpeg", disposition="inline", filename=name, cid=identifier
        )
    first, *_ = _read(tmp_path, mail)
    assert "Attachments: IMG_1.jpeg, IMG_2.jpeg\n" in first.text


def test_saved_web_pages_are_read_as_pages(tmp_path: Path) -> None:
    page = (
        'From: <Saved>\nSubject: Leave\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary="b"\n\n--b\n'
        "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<h1>Leave</h1><p>K=C3=B6ln</p>\n--b\n"
        "Content-Type: image/png\nContent-Location: http://x/y.png\n\nabc\n--b--\n"
    )
    assert any("Köln" in section.text for section in _read(tmp_path, page, "page.mht"))
    assert any(
        "Köln" in section.text
        for section in _read(tmp_path, page.partition("\n")[2].partition("\n")[2], "page.doc")
    )


def test_hostile_and_broken_messages_end(tmp_path: Path) -> None:
    boundaries = "".join(
        f'Content-Type: multipart/mixed; boundary="b{level}"\n\n--b{level}\n' for level in range(2_000)
    )
    assert _read(tmp_path, f"Subject: deep\n{boundaries}\nend")[0].text == "Subject: deep"
    many = "--b\n\nx\n" * 50_000
    assert _read(tmp_path, f"Subject: many\nContent-Type: multipart/mixed; boundary=b\n\n{many}")
    assert _read(tmp_path, "Subject: cut\nContent-Transfer-Encoding: base64\n\nSGVsbG8gd29ybG")[
        0
    ].text.endswith("Hello worl")
    assert _read(tmp_path, "no header at all")[0].text == "no header at all"
    with pytest.raises(EmptyDocument):
        _read(tmp_path, " \n \n")
    itself = zip_of({"a.txt": b"packed words"})
    mail = _mail()
    mail.set_content("x")
    mail.add_attachment(itself, maintype="application", subtype="zip", filename="all.zip")
    assert _read(tmp_path, mail)[-1].anchor == "all.zip › a.txt › line 1"
