"""The files of `../shared/docs` read through the sandboxed pool, and held against what its manifest says must be read.

`python -m benchmarks documents [--only TYPE]` prints the table; `tests/unit/parsers/test_documents.py` holds it to its least.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rag_engine.errors import EmptyDocument, EncryptedFile, UserError
from rag_engine.parsing.pool import ParserPool, parser_pool
from rag_engine.types import Blob, Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DOCUMENTS: Final = Path(__file__).parents[2].parent / "shared" / "docs"
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


def plain(text: str) -> str:
    """A text as the manifest wants it matched."""
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).split())


def blob_of(path: Path) -> Blob:
    return Blob(name=path.name, media_type="", path=path, digest="", size=path.stat().st_size, uri="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The result of one file."""

    row: Mapping[str, Any]
    outcome: str
    """`text`, or the kind of refusal: `error`, `encrypted`, `empty`, `needs_ocr`."""
    text: str
    message: str = ""
    """Why it was refused, or what of it could not be read."""
    seconds: float = 0.0
    sections: Sequence[Section] = field(default=(), repr=False)

    @property
    def path(self) -> str:
        return self.row["path"]

    @property
    def is_text(self) -> bool:
        return self.row["expect"] == "text"

    @property
    def missing(self) -> list[str]:
        return self._absent("must_contain")

    @property
    def unwanted(self) -> list[str]:
        return [words for words in self.row.get("must_not_contain", ()) if plain(words) in self.text]

    @property
    def in_order(self) -> bool:
        places = [self.text.find(plain(words)) for words in self.row.get("order", ())]
        return -1 not in places and places == sorted(places)

    @property
    def missing_also(self) -> list[str]:
        return self._absent("also") + self._absent("plus")

    @property
    def missing_ocr_text(self) -> list[str]:
        return self._absent("ocr_text")

    @property
    def read(self) -> bool:
        """Whether all that must be read was read, without the refusals that the manifest lets pass."""
        return self.outcome == "text" and not self.missing

    @property
    def passed(self) -> bool:
        accepted = {self.row["expect"], *self.row.get("accept", ())}
        # A page without words may hold a picture of words or nothing; both are said in one sentence, and words that OCR
        # finds there are what a person wants.
        if accepted & {"empty", "needs_ocr"} and self.row["type"] in {"pdf", "png", "gif"}:
            accepted |= {"empty", "needs_ocr"}
        if "needs_ocr" in accepted and not self.missing_ocr_text:
            accepted.add("text")
        if self.outcome not in accepted:
            return False
        return self.outcome != "text" or not self.missing

    @property
    def faults(self) -> list[str]:
        """For a person who fixes the parser."""
        told: list[str] = []
        if not self.passed or (self.is_text and not self.read):
            told.append(
                f"{self.row['expect']} → {self.outcome}" + (f" ({self.message})" if self.message else "")
            )
            told += [f"missing {words!r}" for words in self.missing]
        if not self.in_order:
            told.append("order")
        told += [f"unwanted {words!r}" for words in self.unwanted]
        if self.outcome == "text":
            told += [f"also {words!r}" for words in self.missing_also + self.missing_ocr_text]
        return told

    def _absent(self, key: str) -> list[str]:
        return [words for words in self.row.get(key, ()) if plain(words) not in self.text]


def manifest(only: Iterable[str] = ()) -> list[Mapping[str, Any]]:
    """The rows of the manifest, of some types only, or whose path holds one of the words."""
    wanted = tuple(only)
    rows = map(json.loads, (DOCUMENTS / "manifest.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        row
        for row in rows
        if not wanted or row["type"] in wanted or any(word in row["path"] for word in wanted)
    ]


async def readings(
    rows: Iterable[Mapping[str, Any]], *, workers: int = 2, recognition_seconds: float = 600
) -> list[Reading]:
    """The results of files at the limits that the issue names; a long file may have its scans recognised."""
    async with parser_pool(
        workers=workers, seconds=60, memory_bytes=1 << 30, recognition_seconds=recognition_seconds
    ) as pool:
        slots = asyncio.Semaphore(workers)

        async def in_turn(row: Mapping[str, Any]) -> Reading:
            async with slots:  # so that waiting for a turn is not counted
                return await _reading(pool, row)

        return list(await asyncio.gather(*map(in_turn, rows)))


async def _reading(pool: ParserPool, row: Mapping[str, Any]) -> Reading:
    sections: list[Section] = []
    notices: list[str] = []
    outcome, message = "text", ""
    started = time.perf_counter()
    try:
        async for batch in pool.parse(blob_of(DOCUMENTS / row["path"])):
            sections += [section for section in batch if section.kind not in ("notice", "properties")]
            notices += [section.text for section in batch if section.kind == "notice"]
    except UserError as error:
        outcome, message = _refusal(error), str(error)
    text = plain("\n".join(section.text for section in sections))
    if outcome == "text" and not text:
        outcome = "empty"
    return Reading(
        row=row,
        outcome=outcome,
        text=text,
        message=message or " ".join(notices),
        seconds=time.perf_counter() - started,
        sections=sections,
    )


def _refusal(error: UserError) -> str:
    match error:
        case EncryptedFile():
            return "encrypted"
        case EmptyDocument():
            return "needs_ocr" if "OCR" in str(error) else "empty"
        case _:
            return "error"


def share(passed: Iterable[bool]) -> tuple[int, int]:
    counted = list(passed)
    return sum(counted), len(counted)


_COLUMNS: Final = ("type", "text", "read", "order", "not in it", "also", "refused", "scans", "OCR text")


def table(found: Iterable[Reading]) -> str:
    """The counts by type and of all, as `passed/of`; then the files at fault with what was missed.

    `text`: files with text whose outcome is as the manifest wants it; `read`: of these, all that must be read was read, without
    the refusals that it lets pass.
    """
    by_type: dict[str, list[Reading]] = defaultdict(list)
    for reading in found:
        by_type[reading.row["type"]].append(reading)
    rows = [_counts(kind, by_type[kind]) for kind in sorted(by_type)]
    everything = [reading for kind in sorted(by_type) for reading in by_type[kind]]
    rows.append(_counts("all", everything))
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (_COLUMNS, *rows)
    ]
    at_fault = [
        f"{'FAILED' if not reading.passed or reading.unwanted or not reading.in_order else 'less  '} {reading.path}: "
        + "; ".join(reading.faults)
        for reading in everything
        if reading.faults
    ]
    return "\n".join([*lines, *([""] if at_fault else []), *at_fault])


def _counts(kind: str, of_type: list[Reading]) -> tuple[str, ...]:
    texts = [reading for reading in of_type if reading.is_text]
    scans = [reading for reading in of_type if reading.row["expect"] == "needs_ocr"]
    refused = [reading for reading in of_type if reading not in texts and reading not in scans]
    return (
        kind,
        _told(reading.passed for reading in texts),
        _told(reading.read for reading in texts),
        _told(reading.in_order for reading in of_type if "order" in reading.row),
        _told(not reading.unwanted for reading in of_type if "must_not_contain" in reading.row),
        _told(not reading.missing_also for reading in of_type if {"also", "plus"} & reading.row.keys()),
        _told(reading.passed for reading in refused),
        _told(reading.passed for reading in scans),
        _told(
            reading.outcome == "text" and not reading.missing_ocr_text
            for reading in of_type
            if "ocr_text" in reading.row
        ),
    )


def _told(passed: Iterable[bool]) -> str:
    good, total = share(passed)
    return f"{good}/{total}" if total else "-"
