from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from bot.rendering.literal import literal
from rag_engine.text.sentences import split_sentences
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.types import SectionKind

_AROUND: Final = 300
_SENTENCES: Final = 2
_LOOKED_AT: Final = 2_000
_MORE: Final = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    before: str
    quote: str
    after: str

    def markdown(self) -> str:
        parts = [
            *(literal(line) for line in _lines(self.before)),
            # Per line: next to letters the marks might not count.
            *(f"**{literal(line)}**" for line in _lines(self.quote)),
            *(literal(line) for line in _lines(self.after)),
        ]
        return "\n".join(f"> {part}" for part in parts)


def find(quote: str, anchor: str, sections: Sequence[Section]) -> Passage | None:
    """Preferably at the anchor; None if not in the document."""
    found = _find(quote, anchor, sections)
    header, _, row = quote.partition("\n")
    if found is None and row and " | " in header:
        found = _find(row, anchor, [section for section in sections if header in section.text])
    return found


def _find(quote: str, anchor: str, sections: Sequence[Section]) -> Passage | None:
    words = quote.split()
    if not words:
        return None
    pattern = re.compile(r"\s+".join(re.escape(word) for word in words))
    for section in _places(sections, anchor):
        text, kind = section.text, section.kind
        found = pattern.search(text)
        if found is not None:
            before = text[max(0, found.start() - _LOOKED_AT) : found.start()]
            after = text[found.end() : found.end() + _LOOKED_AT]
            header = text.partition("\n")[0] if kind == "table" else ""
            return Passage(
                before=_before(before, kind, header, cut=found.start() > _LOOKED_AT),
                quote=found[0],
                after=_after(after, kind),
            )
    return None


def _places(sections: Sequence[Section], anchor: str) -> Iterator[Section]:
    places = [(section.anchor, section) for section in sections]
    for (at, _), group in groupby(sections, key=lambda section: (section.anchor, section.headings)):
        same = list(group)
        if len(same) > 1:
            places.append((at, _joined(same)))
    places.sort(key=lambda place: place[0] != anchor)
    yield from (section for _, section in places)
    yield _joined(sections)


def _joined(sections: Sequence[Section]) -> Section:
    return Section(text="\n\n".join(section.text for section in sections))


def _before(text: str, kind: SectionKind, header: str, *, cut: bool) -> str:
    if kind in ("table", "code"):
        lines = [line for line in text.split("\n") if line.strip()]
        near = lines[-1:] if kind == "table" else lines[-_SENTENCES:]
        head = [header] if header and near and near[-1] != header else []
        return "\n".join(_short(line) for line in (*head, *near))
    sentences = split_sentences(text)
    near = "".join(sentences[-_SENTENCES:])
    whole = near.strip()
    if len(whole) > _AROUND or (cut and len(sentences) <= _SENTENCES):
        whole = whole[-_AROUND:]
        whole = f"{_MORE} {whole.partition(' ')[2] or whole}"
    return whole


def _after(text: str, kind: SectionKind) -> str:
    if kind in ("table", "code"):
        lines = [line for line in text.split("\n") if line.strip()]
        return "\n".join(_short(line) for line in lines[: 1 if kind == "table" else _SENTENCES])
    return _short("".join(split_sentences(text)[: _SENTENCES + 1]).strip(), breaks=True)


def _short(text: str, *, breaks: bool = False) -> str:
    text = text if breaks else " ".join(text.split())
    if len(text) <= _AROUND:
        return text
    cut = text[:_AROUND]
    return f"{cut.rpartition(' ')[0] or cut} {_MORE}"


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]
