"""Real and hostile files of the shared corpus through the pool: what must be read is read, and nothing breaks.

Prints a table by type with `-s`.
"""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rag_engine.errors import EmptyDocument, EncryptedFile, UserError
from rag_engine.parsing import ParserPool, parser_pool
from rag_engine.types import Blob

if TYPE_CHECKING:
    from collections.abc import Mapping

_DOCUMENTS = Path(__file__).parents[3].parent / "shared" / "docs"
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
# Formats read so far; of the others only that they do no harm.
_READ = frozenset({"pdf", "docx", "pptx", "xlsx", "csv", "tsv", "md", "html", "txt", "json", "jsonl", "code"})
_SHARE = 0.99

pytestmark = pytest.mark.skipif(not _DOCUMENTS.is_dir(), reason="../shared/docs is not here")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    row: Mapping[str, Any]
    outcome: str
    text: str

    @property
    def passed(self) -> bool:
        accepted = {self.row["expect"], *self.row.get("accept", ())}
        # A page without words may hold a picture of words or nothing: both are said in one sentence.
        if self.row["type"] == "pdf" and accepted & {"empty", "needs_ocr"}:
            accepted |= {"empty", "needs_ocr"}
        return self.outcome in accepted and (self.outcome != "text" or not self.faults)

    @property
    def faults(self) -> list[str]:
        missing = [words for words in self.row["must_contain"] if _plain(words) not in self.text]
        wrong = [words for words in self.row.get("must_not_contain", ()) if _plain(words) in self.text]
        places = [self.text.find(_plain(words)) for words in self.row.get("order", ())]
        return missing + wrong + (["order"] if -1 in places or places != sorted(places) else [])


def _plain(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).split())


async def _read(pool: ParserPool, row: Mapping[str, Any]) -> _Reading:
    path = _DOCUMENTS / row["path"]
    blob = Blob(name=path.name, media_type="", path=path, digest="", size=row["size"], uri="")
    texts: list[str] = []
    outcome = "text"
    try:
        async for batch in pool.parse(blob):
            texts += [section.text for section in batch]
    except EncryptedFile:
        outcome = "encrypted"
    except EmptyDocument as error:
        outcome = "needs_ocr" if "OCR" in str(error) else "empty"
    except UserError:
        outcome = "error"
    return _Reading(row=row, outcome=outcome, text=_plain("\n".join(texts)))


async def _readings() -> list[_Reading]:
    lines = (_DOCUMENTS / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    async with parser_pool(workers=2, seconds=60, memory_bytes=1 << 30) as pool:
        return list(await asyncio.gather(*(_read(pool, json.loads(line)) for line in lines)))


async def test_the_corpus() -> None:
    counts: dict[tuple[str, str], list[_Reading]] = defaultdict(list)
    for reading in await _readings():
        counts[reading.row["type"], reading.row["expect"]].append(reading)
    for (kind, expected), readings in sorted(counts.items()):
        failed = [reading.row["path"] for reading in readings if not reading.passed]
        print(f"{kind:10}{expected:10}{len(readings) - len(failed):4} of {len(readings)}  {' '.join(failed)}")
    read = [reading for (kind, _), readings in counts.items() if kind in _READ for reading in readings]
    texts = [reading for reading in read if reading.row["expect"] == "text"]
    assert sum(reading.passed for reading in texts) >= _SHARE * len(texts)
    refused = [reading for reading in read if reading.row["expect"] in {"error", "encrypted", "empty"}]
    # One picture bomb has words beside the picture, and they are read.
    assert {reading.row["path"] for reading in refused if not reading.passed} <= {"real/pdfjs-bomb_giant.pdf"}
