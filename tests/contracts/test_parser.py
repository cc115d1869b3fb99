"""What every parser keeps to: clean sections with anchors from good files, `UserError`s and nothing else from bad ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import pytest

from rag_engine import plugins
from rag_engine.errors import EmptyDocument, UserError
from rag_engine.parsing.formats import FAMILY
from rag_engine.parsing.media_types import parser_name
from rag_engine.parsing.pool import parser_pool
from rag_engine.types import Blob
from tests.ocr import INSPECTION, needs_tesseract
from tests.unit.parsers.files import CHINESE, WRITERS

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import Parser
    from rag_engine.types import Section

_NO_HEADINGS = {"md", "html", "docx", "odt", "rtf", "doc"}
"""Formats whose anchor is the heading above: text before the first heading has none."""
_PACKED = {
    *("pdf", "docx", "pptx", "xlsx", "odt", "odp", "ods", "rtf", "doc", "ppt", "xls", "msg"),
    *("zip", "epub", "pages", "png"),
}
"""Formats that are more than their text: blank text under their name is no such file."""


def _param(suffix: str) -> object:
    return pytest.param(suffix, marks=pytest.mark.process) if suffix == "png" else suffix


@pytest.fixture(params=map(_param, sorted(WRITERS)))
def good(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "png":
        needs_tesseract()
    path = tmp_path / f"file.{request.param}"
    WRITERS[cast("str", request.param)](path)
    return path


def _sections(path: Path) -> list[Section]:
    return list(_parser(path)(path))


def _parser(path: Path) -> Parser:
    return cast("Parser", plugins.load(FAMILY, parser_name(path, path.name)).parse)


def test_every_parser_is_under_contract(tmp_path: Path) -> None:
    under_contract: set[str] = set()
    for suffix, write in WRITERS.items():
        path = tmp_path / f"file.{suffix}"
        write(path)
        under_contract.add(parser_name(path, path.name))
    # The text of audio comes from a speech model, not from its parser.
    assert under_contract == set(plugins.available(FAMILY)) - {"audio"}


def test_sections_are_clean(good: Path) -> None:
    for section in _sections(good):
        assert section.text == section.text.strip("\n")
        assert section.text.strip()
        for text in (section.text, section.anchor, *section.headings):
            assert "\x00" not in text
            text.encode("utf-8")
        assert all(heading == " ".join(heading.split()) and heading for heading in section.headings)
        assert section.kind in {"prose", "list", "table", "code", "notice"}


def test_every_section_has_an_anchor(good: Path) -> None:
    for section in _sections(good):
        # A notice of the whole file has no place in it.
        if section.kind != "notice" and (good.suffix[1:] not in _NO_HEADINGS or section.headings):
            assert section.anchor


def test_a_notice_is_a_sentence_and_never_all_that_comes(good: Path) -> None:
    sections = _sections(good)
    assert any(section.kind != "notice" for section in sections)
    notices = [section.text for section in sections if section.kind == "notice"]
    assert all(text.endswith(".") and "\n" not in text for text in notices)
    assert bool(notices) == (good.suffix == ".zip")


def test_words_of_every_script_arrive(good: Path) -> None:
    text = "\n".join(section.text for section in _sections(good))
    if good.suffix == ".png":
        # What is recognised of other scripts depends on what is installed.
        assert INSPECTION in text
        return
    assert CHINESE in text
    assert "Jahresurlaub beträgt dreißig" in text or "Köln" in text


def test_neighbours_of_one_place_are_one_section(good: Path) -> None:
    sections = _sections(good)
    for first, second in pairwise(sections):
        assert first.kind == "table" or (first.anchor, first.headings, first.kind) != (
            second.anchor,
            second.headings,
            second.kind,
        )


def test_tables_are_rows_of_cells(good: Path) -> None:
    for section in _sections(good):
        if section.kind == "table" and "\n" in section.text:
            assert all(" | " in line for line in section.text.splitlines())


def test_parsing_is_lazy_and_repeatable(good: Path) -> None:
    sections = iter(_parser(good)(good))
    assert isinstance(sections, Iterator)
    assert next(sections) == _sections(good)[0]
    assert _sections(good) == _sections(good)


def test_blank_text_is_an_empty_document(good: Path) -> None:
    if good.suffix[1:] not in _PACKED:
        good.write_text(" \n\u200b\t\n", encoding="utf-8")
        with pytest.raises(EmptyDocument):
            _sections(good)


def _damaged(content: bytes, seed: int) -> bytes:
    chance = random.Random(seed)
    if seed % 3 == 0:
        return content[: chance.randrange(len(content))]
    damaged = bytearray(content)
    for _ in range(1 + seed % 3 * 20):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    if seed % 4 == 0:
        start = chance.randrange(len(damaged))
        del damaged[start : start + 50]
    return bytes(damaged)


@pytest.mark.process  # pages of damaged PDFs go to Tesseract
def test_damaged_files_raise_user_errors_only(good: Path) -> None:
    content = good.read_bytes()
    for seed in range(30):
        good.write_bytes(_damaged(content, seed))
        try:
            sections = _sections(good)
        except UserError:
            continue
        assert all("\x00" not in section.text and section.text.strip() for section in sections)
        assert any(section.kind != "notice" for section in sections)


STATING = frozenset({"docx", "pptx", "xlsx", "eml", "msg"})
"""Suffixes of samples that state their properties."""


def test_noise_raises_user_errors_only(good: Path) -> None:
    for seed in range(5):
        good.write_bytes(good.read_bytes()[:8] + random.Random(seed).randbytes(3000))
        with pytest.raises(UserError):
            _sections(good)


@pytest.mark.process
async def test_in_the_sandbox_the_same_is_read(tmp_path: Path) -> None:
    """What a library loads, opens or starts when it is first needed has to be possible there."""
    async with parser_pool(workers=1, seconds=60, memory_bytes=1 << 30) as pool:
        for suffix in sorted(WRITERS.keys() - {"png"}):
            path = tmp_path / f"file.{suffix}"
            WRITERS[suffix](path)
            blob = Blob(name=path.name, media_type="", path=path, digest="", size=path.stat().st_size, uri="")
            read = [section async for batch in pool.parse(blob) for section in batch]
            assert [section for section in read if section.kind != "properties"] == _sections(path)
            assert (read[-1].kind == "properties") is (suffix in STATING), suffix
