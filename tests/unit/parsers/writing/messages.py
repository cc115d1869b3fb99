"""Messages, mailboxes, calendars and contacts."""

from __future__ import annotations

from email.message import EmailMessage
from typing import TYPE_CHECKING, Final

from tests.unit.parsers.ole_files import attachment, outlook
from tests.unit.parsers.writing.words import CHINESE, GERMAN, text

if TYPE_CHECKING:
    from pathlib import Path


def _mail(subject: str, body: str) -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = subject, "Zoë <zoe@example.org>", "team@example.org"
    mail["Date"] = "Fri, 20 Nov 2026 08:00:00 +0000"
    mail.set_content(body)
    return mail


def write_eml(path: Path) -> None:
    mail = _mail("Leave", f"{GERMAN}\n\n> Why?\n")
    # The default boundary is random.
    mail.add_attachment(f"# Reports\n\n{CHINESE}\n", subtype="markdown", filename="reports.md")
    mail.set_boundary("between")
    path.write_bytes(mail.as_bytes())


def write_mbox(path: Path) -> None:
    mails = (_mail("Leave", GERMAN), _mail("Reports", CHINESE))
    path.write_bytes(
        b"".join(b"From zoe@example.org Fri Nov 20\n" + mail.as_bytes() + b"\n" for mail in mails)
    )


def write_msg(path: Path) -> None:
    texts = {0x001A: "IPM.Note", 0x0037: "Leave", 0x0C1A: "Zoë", 0x0E04: "Team", 0x1000: f"{GERMAN}\r\n"}
    attached = attachment(0, "reports.md", f"# Reports\n\n{CHINESE}\n".encode())
    path.write_bytes(outlook(texts, more=attached))


write_ics: Final = text(
    f"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Kick-off\r\nLOCATION:Köln\r\nDTSTART:20261120T090000Z\r\n"
    f"DESCRIPTION:{CHINESE}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
write_vcf: Final = text(
    f"BEGIN:VCARD\nVERSION:4.0\nFN:Zoë Maier\nADR:;;Ring 1;Köln;;50667;\nNOTE:{CHINESE}\nEND:VCARD\n"
)
