"""iCalendar (RFC 5545)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.encoding import text_encoding, text_lines
from rag_engine.parsers._shared.sections import joined, one_line
from rag_engine.parsers.mail._calendar.content_lines import ContentLine, content_lines, plain
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SUFFIXES: Final = "ical ifb icalendar"

_COMPONENTS: Final = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Entry"}
_FIELDS: Final = {
    "DTSTART": "Start",
    "DTEND": "End",
    "DUE": "Due",
    "DURATION": "Duration",
    "RRULE": "Repeats",
    "LOCATION": "Place",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "With",
    "STATUS": "Status",
    "CATEGORIES": "Categories",
    "URL": "Link",
}
_TIME: Final = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
_PERSON: Final = re.compile(r'CN="?([^":;]+)"?', re.IGNORECASE)
_ZONE: Final = re.compile(r"TZID=([^;:]+)", re.IGNORECASE)


def parse(path: Path) -> Iterator[Section]:
    """One section per event, anchored "§ Title"."""
    lines = (line.text for line in text_lines(path, text_encoding(path)))
    yield from joined(_sections(lines))


def calendar_sections(text: str) -> Iterator[Section]:
    yield from _sections(text.splitlines())


def _sections(lines: Iterable[str]) -> Iterator[Section]:
    component = ""
    inner = 0
    fields: list[ContentLine] = []
    for line in content_lines(lines):
        kind = line.value.strip().upper()
        if line.name == "BEGIN":
            if kind in _COMPONENTS and not component:
                component, fields = kind, []
            elif component:
                inner += 1
        elif line.name == "END":
            if component and not inner and kind == component:
                yield _event(component, fields)
                component = ""
            inner = max(inner - 1, 0)
        elif component and not inner:
            fields.append(line)


def _event(component: str, fields: list[ContentLine]) -> Section:
    values: dict[str, list[str]] = {}
    for line in fields:
        values.setdefault(line.name, []).append(_value(line))
    title = one_line(" ".join(values.get("SUMMARY", []))) or _COMPONENTS[component]
    lines_of_text = [f"{_COMPONENTS[component]}: {title}"]
    lines_of_text += [
        f"{label}: {', '.join(filter(None, values[name]))}"
        for name, label in _FIELDS.items()
        if name in values
    ]
    lines_of_text += values.get("DESCRIPTION", [])
    return Section(text="\n".join(lines_of_text), anchor=f"§ {title}", headings=(title,))


def _value(line: ContentLine) -> str:
    time = _TIME.fullmatch(line.value.strip())
    if time is not None:
        year, month, day, hour, minute, universal = time.groups()
        zone = _ZONE.search(line.parameters)
        named = " UTC" if universal else f" ({zone[1].title()})" if zone else ""
        return f"{year}-{month}-{day} {hour}:{minute}{named}" if hour else f"{year}-{month}-{day}"
    if line.name in {"ORGANIZER", "ATTENDEE"}:
        address = re.sub(r"^mailto:", "", line.value.strip(), flags=re.IGNORECASE)
        person = _PERSON.search(line.parameters)
        return f"{person[1].title()} <{address}>" if person else address
    return plain(line.value)
