"""Contacts (vCard): a section per person or organisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.parsers._content_lines import ContentLine, content_lines, plain
from rag_engine.parsers._encoding import opened, text_lines
from rag_engine.parsers._sections import joined, one_line
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

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
    """A section per card, anchored "§ its name"."""
    lines = (line.text for line in text_lines(path, opened(path)))
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
    told = [name, *(f"{_FIELDS[key]}: {value}" for key, value in values if key in _FIELDS and value)]
    return Section(text="\n".join(told), anchor=f"§ {name}", headings=(name,))


def _value(line: ContentLine) -> str:
    """A value on one line; the parts of an address or a name are divided by commas."""
    parts = [one_line(plain(part)) for part in line.value.replace("\\;", "\0").split(";")]
    return ", ".join(part.replace("\0", ";") for part in parts if part)
