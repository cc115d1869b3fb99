"""Contacts (vCard, RFC 6350)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.encoding import text_encoding, text_lines
from rag_engine.parsers._shared.sections import joined, one_line
from rag_engine.parsers.mail._calendar.content_lines import ContentLine, content_lines, plain
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SUFFIXES: Final = "vcard"

_FIELDS: Final = {
    **dict.fromkeys(("ORG",), "Organisation"),
    "TITLE": "Title",
    "ROLE": "Role",
    "TEL": "Telephone",
    "EMAIL": "E-mail",
    "ADR": "Address",
    "URL": "Web",
    "BDAY": "Birthday",
    "NICKNAME": "Nickname",
    "NOTE": "Note",
    "CATEGORIES": "Categories",
}


def parse(path: Path) -> Iterator[Section]:
    """One section per person or organisation, anchored "§ Name"."""
    lines = (line.text for line in text_lines(path, text_encoding(path)))
    yield from joined(_cards(lines))


def _cards(lines: Iterable[str]) -> Iterator[Section]:
    card: list[ContentLine] = []
    for line in content_lines(lines):
        if line.name == "BEGIN":
            card = []
        elif line.name == "END":
            yield _card(card)
            card = []
        else:
            card.append(line)


def _card(lines: list[ContentLine]) -> Section:
    values = [(line.name, _value(line)) for line in lines]
    name = next((value for key, value in values if key == "FN" and value), "") or next(
        (value for key, value in values if key in {"N", "ORG"} and value), "Contact"
    )
    lines_of_text = [name, *(f"{_FIELDS[key]}: {value}" for key, value in values if key in _FIELDS and value)]
    return Section(text="\n".join(lines_of_text), anchor=f"§ {name}", headings=(name,))


def _value(line: ContentLine) -> str:
    parts = [one_line(plain(part)) for part in line.value.replace("\\;", "\0").split(";")]
    return ", ".join(part.replace("\0", ";") for part in parts if part)
