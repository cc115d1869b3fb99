from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.sections import is_blank, one_line
from rag_engine.parsers.texts import html
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ANCHOR: Final = "message"
_MOST_NAMED: Final = 20
_QUOTE: Final = re.compile(r"^(?:> ?)+")
_EARLIER: Final = "Earlier message"
_LEAST_SHARE: Final = 0.6
"""Share of the HTML's words in a plain text that does not only refer to the HTML."""
_SIGNED: Final = re.compile(r"-----BEGIN PGP SIGNED MESSAGE-----\n(?:[A-Za-z]+: [^\n]*\n)*\n?")
_SIGNATURE: Final = re.compile(
    r"-----BEGIN PGP SIGNATURE-----.*?(?:-----END PGP SIGNATURE-----|\Z)", re.DOTALL
)
_ENCRYPTED: Final = re.compile(r"\s*-----BEGIN PGP MESSAGE-----")
_ESCAPED: Final = re.compile(r"^>(?=From )", re.MULTILINE)
_BLANK_LINES: Final = re.compile(r"\n(?:[ \t\u00a0]*\n){2,}")
_WORDS: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    subject: str = ""
    sender: str = ""
    to: Sequence[str] = ()
    cc: Sequence[str] = ()
    date: str = ""
    attachments: Sequence[str] = ()


def envelope_section(envelope: Envelope) -> Section:
    fields = (
        ("Subject", envelope.subject),
        ("From", envelope.sender),
        ("To", _listed(envelope.to)),
        ("Cc", _listed(envelope.cc)),
        ("Date", envelope.date),
        ("Attachments", _listed(envelope.attachments)),
    )
    text = "\n".join(f"{name}: {value}" for name, value in fields if not is_blank(value))
    return Section(text=text, anchor=ANCHOR, headings=(envelope.subject,) if envelope.subject else ())


def best_body(plain: str, page: str) -> list[Section]:
    if is_blank(page):
        return list(plain_sections(plain))
    sections = list(html.sections(page))
    words = {word for section in sections for word in _WORDS.findall(section.text)}
    enough = len(words.intersection(_WORDS.findall(plain))) >= len(words) * _LEAST_SHARE
    has_table = any(section.kind == "table" and _is_data(section.text) for section in sections)
    if not is_blank(plain) and enough and not has_table:
        return list(plain_sections(plain))
    return sections


def plain_sections(text: str) -> Iterator[Section]:
    text = _SIGNATURE.sub("", _SIGNED.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    text = _BLANK_LINES.sub("\n\n", _ESCAPED.sub("", text))
    for quoted, lines in groupby(text.split("\n"), key=lambda line: line.startswith(">")):
        passage = "\n".join(_QUOTE.sub("", line) if quoted else line for line in lines)
        if not is_blank(passage):
            yield Section(text=passage, headings=(_EARLIER,) if quoted else ())


def flowed(text: str, *, delete_space: bool) -> str:
    lines: list[str] = []
    before = None
    for line in text.replace("\r\n", "\n").split("\n"):
        quote = _QUOTE.match(line)
        mark = quote[0].replace(" ", "") if quote is not None else ""
        body = line[len(quote[0]) :] if quote is not None else line.removeprefix(" ")
        if before == mark:
            lines[-1] = (lines[-1].removesuffix(" ") if delete_space else lines[-1]) + body
        else:
            lines.append(f"{mark} {body}" if mark else body)
        before = mark if line.endswith(" ") and body != "-- " else None
    return "\n".join(lines)


def is_encrypted(text: str) -> bool:
    return _ENCRYPTED.match(text) is not None


def with_anchor(sections: Iterable[Section], subject: str) -> Iterator[Section]:
    above = (subject,) if subject else ()
    for section in sections:
        yield replace(section, anchor=ANCHOR, headings=(*above, *section.headings))


def _is_data(table: str) -> bool:
    rows = table.split("\n")
    return len(rows) > 1 and sum(" | " in row for row in rows) > 1


def _listed(values: Sequence[str]) -> str:
    named = ", ".join(one_line(value) for value in values[:_MOST_NAMED])
    return f"{named} and {len(values) - _MOST_NAMED} more" if len(values) > _MOST_NAMED else named
