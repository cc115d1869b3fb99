"""Large files that people really have are read within the default limit on memory."""

from __future__ import annotations

import io
import os
import random
import struct
import zlib
from typing import TYPE_CHECKING, Any, Final, cast

import docx
import openpyxl
import pytest
from docx.shared import Inches

from benchmarks.made_files import long_pdf, sentences
from bot.settings import ParsingSettings
from rag_engine.parsing.pool import parser_pool
from tests.hostile.watching import peak_memory, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SECONDS: Final = 600.0
"""Generous, for busy machines: this is about memory."""


def _png(side: int) -> bytes:
    """Noise, which cannot be compressed."""

    def part(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    rows = b"".join(b"\0" + os.urandom(3 * side) for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = part(b"IHDR", header) + part(b"IDAT", zlib.compress(rows, 0)) + part(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def _word_with_pictures(path: Path) -> None:
    document, chance = docx.Document(), random.Random(1)
    for number in range(50):
        document.add_heading(f"Chapter {number}", 1)
        for _ in range(20):
            document.add_paragraph(sentences(chance, 5))
        document.add_picture(io.BytesIO(_png(590)), width=Inches(5))
    document.save(str(path))


def _long_pdf(path: Path) -> None:
    long_pdf(path, pages=300)


def _workbook(path: Path) -> None:
    book, chance = openpyxl.Workbook(write_only=True), random.Random(3)
    sheet = cast("Any", book.create_sheet("Orders"))
    sheet.append(["Order", "Customer", "City", "Product", "Amount", "Price", "Note", "Id"])
    for number in range(100_000):
        names = [f"Customer {chance.randrange(10**6):x}", f"City {chance.randrange(5_000)}"]
        amounts = [f"P-{chance.randrange(10**8)}", chance.randrange(1_000), round(chance.random() * 1e4, 2)]
        sheet.append(
            [number, *names, *amounts, f"n{chance.getrandbits(160):x}", f"{chance.getrandbits(200):x}"]
        )
    book.save(path)


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "write", "least"),
    [
        ("pictures.docx", _word_with_pictures, 500_000),
        pytest.param("long.pdf", _long_pdf, 900_000, marks=pytest.mark.soak),
        pytest.param("orders.xlsx", _workbook, 18_000_000, marks=pytest.mark.soak),
    ],
)
async def test_a_large_file_is_read(
    tmp_path: Path, name: str, write: Callable[[Path], None], least: int
) -> None:
    path = tmp_path / name
    write(path)
    most = ParsingSettings().memory_mb << 20
    async with parser_pool(workers=1, seconds=_SECONDS, memory_bytes=most) as pool:
        with peak_memory() as peak:
            outcome = await read(pool, path)
    assert (outcome.kind, outcome.sentence) == ("text", "")
    assert len(outcome.text) > least
    assert 0 < peak[0] < most
