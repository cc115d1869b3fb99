"""Files made to harm their readers: each ends in its text or in one plain sentence, within its time and its memory.

`-s` prints a table of the results.
"""

from __future__ import annotations

import json
import re
import tempfile
import unicodedata
from pathlib import Path

import pytest

from bot.settings import ParsingSettings
from rag_engine.parsing.pool import parser_pool
from tests.hostile.every import FILES
from tests.hostile.watching import Outcome, peak_memory, read, read_all

_DOCUMENTS = Path(__file__).parents[2].parent / "shared" / "docs"
_LONG = frozenset(
    {
        *(
            "empty-paragraphs.docx",
            "many-strings.xlsx",
            "empty-rows.xlsx",
            "many-cells.xlsx",
            "far-corner.xlsx",
        ),
        *(
            "many-shapes.pptx",
            "deep-tree.pdf",
            "flate.pdf",
            "flate-text.pdf",
            "forms-in-forms.pdf",
            "many-notes.pdf",
        ),
        *(
            "attributes.html",
            "same-key.json",
            "many-keys.json",
            "long-string.json",
            "brackets.md",
            "pictures.md",
        ),
        *(
            "references.md",
            "wide.csv",
            "wide-filled.csv",
            "lines.csv",
            "open-quote.csv",
            "one-line.txt",
            "lines.txt",
            "marks.txt",
        ),
        *(
            "paragraphs.odt",
            "slides.odp",
            "rows.rtf",
            "cells.rtf",
            "codes.rtf",
            "lines.eml",
            "words.mbox",
            "long.ics",
        ),
    }
)
"""Those that would go on for long, or need much memory: they meet limits that are lower than the program's."""
_LATE = 30.0
"""Seconds by which a busy machine may notice a time limit later, and start a worker."""
_KINDS = {"text", "CorruptFile", "EmptyDocument", "EncryptedFile", "FileTooLarge", "UnsupportedFile"}
_SAID = {"error": "CorruptFile", "encrypted": "EncryptedFile", "empty": "EmptyDocument"}
_NAMES = (
    "../../../../etc/passwd.txt",
    "/etc/cron.d/footnote.txt",
    "C:\\Windows\\System32\\notes.txt",
    "a\x00b.txt",
    "a\nb\r\n\x1b[31mc.txt",
    "\u202etxt.exe\u202d.txt",
    "x" * 4_000 + ".txt",
    "\udcff\udcfe.txt",
    ".",
    "..",
    "con.txt ",
    "`*_~<@U1><!channel>[x](http://x)`.txt",
    "",
)

pytestmark = pytest.mark.slow


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Home, the folder of temporary files and the folder of the files, all empty; nothing is to be left in them."""
    for variable, name in (("HOME", "home"), ("TMPDIR", "temporary"), ("", "files")):
        (tmp_path / name).mkdir()
        if variable:
            monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def _listing(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if not path.is_dir()
    }


def _is_plain(outcome: Outcome) -> bool:
    """One sentence or two that a person can read, about the file and not about our code."""
    sentence = outcome.sentence
    invisible = any(unicodedata.category(character) in {"Cc", "Cf", "Cs"} for character in sentence)
    technical = re.search(r"Traceback|Error|Exception|/tmp|None(?! of the )|rag_engine", sentence) is not None
    return 20 <= len(sentence) <= 300 and sentence.endswith(".") and not invisible and not technical


@pytest.mark.parametrize(
    ("names", "seconds", "memory"),
    [(sorted(FILES.keys() - _LONG), 60.0, 1 << 30), (sorted(_LONG), 1.0, 384 << 20)],
    ids=["soon done", "without end"],
)
async def test_made_to_harm(places: Path, names: list[str], seconds: float, memory: int) -> None:
    files = places / "files"
    for name in names:
        (files / name).write_bytes(FILES[name]())
    good = places / "files" / "good.txt"
    good.write_text("Good words.", encoding="utf-8")
    before = _listing(places)
    with peak_memory() as usual:
        async with parser_pool(workers=1, seconds=30, memory_bytes=memory) as pool:
            await read(pool, good)
    with peak_memory() as peak:
        async with parser_pool(workers=2, seconds=seconds, memory_bytes=memory) as pool:
            outcomes = await read_all(pool, [files / name for name in names])
    for outcome in outcomes:
        print(outcome)
    print(f"at most {peak[0] >> 20} MB resident in one process")
    assert {outcome.kind for outcome in outcomes} <= _KINDS
    assert [outcome for outcome in outcomes if outcome.kind != "text" and not _is_plain(outcome)] == []
    assert [outcome for outcome in outcomes if outcome.seconds > seconds + _LATE] == []
    # The limit is what a file may add.
    assert 0 < peak[0] <= usual[0] + memory
    assert _listing(places) == before
    assert not any("root:" in outcome.text for outcome in outcomes)
    for outcome in outcomes:
        if outcome.name.startswith("plain."):
            assert "Good words" in outcome.text


async def test_names_made_to_harm(places: Path) -> None:
    good, bad = places / "files" / "good", places / "files" / "bad"
    good.write_text("Good words.", encoding="utf-8")
    bad.write_bytes(b"PK\x03\x04 damaged")
    before = _listing(places)
    async with parser_pool(workers=1, seconds=30, memory_bytes=1 << 30) as pool:
        for name in _NAMES:
            assert (await read(pool, good, name=name)).text == "Good words.", name
            refused = await read(pool, bad, name=name)
            assert refused.kind == "CorruptFile", name
            assert _is_plain(refused), refused.sentence
    assert _listing(places) == before


@pytest.mark.skipif(not _DOCUMENTS.is_dir(), reason="../shared/docs is not here")
async def test_what_of_the_corpus_cannot_be_read_is_said_and_why(places: Path) -> None:
    """All that is damaged, locked or empty there, at the limits the program has by default."""
    lines = (_DOCUMENTS / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    # Sound has no text for a parser: it is written down, or refused, outside the sandbox.
    rows = [
        row for row in map(json.loads, lines) if row["expect"] in _SAID and not row["path"].endswith(".mp3")
    ]
    corpus, before = _listing(_DOCUMENTS), _listing(places)
    memory = ParsingSettings().memory_mb << 20
    with peak_memory() as peak:
        async with parser_pool(workers=2, seconds=60, memory_bytes=memory) as pool:
            outcomes = await read_all(pool, [_DOCUMENTS / row["path"] for row in rows])
    for row, outcome in zip(rows, outcomes, strict=True):
        print(f"{row['expect']:10}{outcome}")
    print(f"at most {peak[0] >> 20} MB resident in one process")
    assert peak[0] < 300 << 20
    assert max(outcome.seconds for outcome in outcomes) < 60
    assert (_listing(_DOCUMENTS), _listing(places)) == (corpus, before)
    for row, outcome in zip(rows, outcomes, strict=True):
        may_have_text = "text" in row.get("accept", ()) or row["path"] == "real/pdfjs-bomb_giant.pdf"
        assert _is_plain(outcome) or (outcome.kind == "text" and may_have_text), (row["path"], outcome.kind)
        if row["expect"] == "encrypted":
            assert outcome.kind == "EncryptedFile", row["path"]
        if row["expect"] == "empty" and "accept" not in row:
            assert outcome.kind == "EmptyDocument", row["path"]
        if row["expect"] == "error":
            assert outcome.kind not in {"EncryptedFile"}, row["path"]
    kinds = {outcome.kind for outcome in outcomes}
    assert {"CorruptFile", "EmptyDocument", "EncryptedFile", "FileTooLarge", "UnsupportedFile"} <= kinds
