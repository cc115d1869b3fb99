"""Archives: members as documents, nothing written outside, bombs stopped."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import (
    CorruptFile,
    EmptyDocument,
    EncryptedFile,
    FileTooLarge,
    UnsupportedFile,
    UserError,
)
from rag_engine.parsers import archive
from rag_engine.parsers._archives.nested_files import safe_name
from rag_engine.parsers.documents import iwork
from rag_engine.parsing.media_types import parser_name
from rag_engine.parsing.pool import parser_pool
from rag_engine.types import Blob
from tests.unit.parsers.files import CHINESE, GERMAN, write_pdf, write_xlsx, zip_of

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Section


def _read(folder: Path, content: bytes, name: str = "all.zip") -> list[Section]:
    path = folder / name
    path.write_bytes(content)
    assert parser_name(path, path.name) == "archive"
    return list(archive.parse(path))


def _tar(members: dict[str, bytes], mode: str = "w") -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode) as packed:  # pyright: ignore[reportCallIssue,reportArgumentType]
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            packed.addfile(entry, io.BytesIO(data))
    return content.getvalue()


def test_members_are_documents_with_their_own_anchors(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "budget.xlsx")
    inner = zip_of({"deep/notes.md": b"# Leave\n\nThirty days."})
    members = {
        "docs/leave.md": f"# Leave\n\n{CHINESE}".encode(),
        "budget.xlsx": (tmp_path / "budget.xlsx").read_bytes(),
        "more.zip": inner,
        "__MACOSX/docs/._leave.md": b"\0\1",
        ".git/config": b"[core]",
        ".DS_Store": b"\0\0\0\1Bud1",
    }
    sections = _read(tmp_path, zip_of(members))
    places = [section.anchor for section in sections]
    assert places[0] == "docs/leave.md › § Leave"
    assert sections[0].headings == ("docs/leave.md", "Leave")
    assert any(place.startswith("budget.xlsx › Budget!A") for place in places)
    assert places[-1] == "more.zip › deep/notes.md › § Leave"
    assert not any(section.kind == "notice" for section in sections)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_in_every_wrapping(tmp_path: Path, mode: str) -> None:
    sections = _read(tmp_path, _tar({"a/b.txt": b"words", "c.txt": b"more"}, mode), "all.tar.x")
    assert [(section.anchor, section.text) for section in sections] == [
        ("a/b.txt › line 1", "words"),
        ("c.txt › line 1", "more"),
    ]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_is_read_as_the_file(tmp_path: Path, pack: type) -> None:
    [section] = _read(tmp_path, pack(b"# Leave\n\nThirty."), "leave.md.gz")
    assert (section.anchor, section.headings) == ("§ Leave", ("Leave",))


def test_a_notice_names_unreadable_members(tmp_path: Path) -> None:
    *_, notice = _read(
        tmp_path, zip_of({"a.txt": b"words", "b.exe": b"MZ\0\1" * 99, "c.pdf": b"%PDF-1.4 cut"})
    )
    assert notice.kind == "notice"
    assert notice.text.startswith(
        "2 of 3 files in it could not be read: b.exe (of a kind that is not read), c.pdf (damaged)"
    )


def test_an_archive_without_readable_members_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFile, match=r"None of the 2 files in it could be read: a\.exe"):
        _read(tmp_path, zip_of({"a.exe": b"MZ\0\1" * 99, "b.bin": b"\0\1\2\3" * 99}))
    many = zip_of({f"a rather long name of a program {number}.exe": b"MZ\0\1" * 99 for number in range(99)})
    with pytest.raises(UnsupportedFile, match=r"of a kind that is not read\) and 9\d more\.$") as refused:
        _read(tmp_path, many)
    assert len(str(refused.value)) < 300
    with pytest.raises(EmptyDocument):
        _read(tmp_path, zip_of({}))
    with pytest.raises(CorruptFile):
        _read(tmp_path, _tar({"a.txt": b"words" * 9999}, "w:gz")[:60], "a.tgz")


def test_a_notice_names_members_with_a_password(tmp_path: Path) -> None:
    content = bytearray(zip_of({"a.txt": b"words"}))
    for at in (content.find(b"PK\1\2") + 8, 6):
        content[at] |= 1
    with pytest.raises(EncryptedFile, match="password"):
        _read(tmp_path, bytes(content))


def test_links_and_devices_are_not_followed(tmp_path: Path) -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as packed:
        for name, kind in [
            ("a", tarfile.SYMTYPE),
            ("b", tarfile.LNKTYPE),
            ("c", tarfile.CHRTYPE),
            ("d", tarfile.FIFOTYPE),
        ]:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            packed.addfile(entry)
    with pytest.raises(EmptyDocument):
        _read(tmp_path, content.getvalue(), "a.tar")
    link = zipfile.ZipInfo("a.txt")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr(link, "/etc/passwd")
    with pytest.raises(EmptyDocument):
        _read(tmp_path, content.getvalue())


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("C:\\Users\\x\\a.txt", "Users/x/a.txt"),
        ("/a//./b", "a/b"),
        ("a\x00\x1b[2J\n.txt", "a[2J .txt"),
        ("x\u202etxt.exe", "xtxt.exe"),
        ("..", "file"),
        (f"{'d/' * 60}end.txt", "end.txt"),
    ],
)
def test_names_are_made_safe(name: str, shown: str) -> None:
    assert safe_name(name) == shown


@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        (["项目计划.txt", "会议纪要.txt"], "gbk"),
        (["レポート.txt"], "shift_jis"),
        (["Größe für Köln.txt"], "cp437"),
        (["Größe.txt"], "cp1252"),
        (["Отчёт.txt"], "cp866"),
        (["회의록.txt", "예산안.txt"], "cp949"),
        (["資料.txt"], "utf-8"),
    ],
)
def test_names_in_undeclared_code_pages(tmp_path: Path, names: list[str], encoding: str) -> None:
    stand_ins = {f"{number}" * len(name.encode(encoding)): name for number, name in enumerate(names)}
    raw = zip_of(dict.fromkeys(stand_ins, b"words"))
    for stand_in, name in stand_ins.items():
        raw = raw.replace(stand_in.encode(), name.encode(encoding))
    assert [section.headings[0] for section in _read(tmp_path, raw)] == names


def _nested(levels: int) -> bytes:
    content = zip_of({"a.txt": b"x" * 1000})
    for _ in range(levels):
        content = zip_of({f"{number}.zip": content for number in range(8)})
    return content


@pytest.mark.slow
def test_bombs_are_stopped(tmp_path: Path) -> None:
    zeros = b"words \n" * (10 << 20)
    with pytest.raises(FileTooLarge):
        _read(tmp_path, zip_of({"a.txt": zeros}))
    with pytest.raises(FileTooLarge):
        _read(tmp_path, gzip.compress(zeros), "a.txt.gz")
    with pytest.raises(FileTooLarge):
        _read(tmp_path, _nested(5))
    *sections, notice = _read(tmp_path, zip_of({f"{number}.txt": b"words" for number in range(1_200)}))
    assert len(sections) == 1_000
    assert notice.text == "It holds more than is read at once: 1000.txt and what comes after it was left out."


@pytest.mark.process
async def test_in_the_sandbox_nothing_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    write_xlsx(tmp_path / "budget.xlsx")
    members = {
        "../out.txt": b"words",
        "b.xlsx": (tmp_path / "budget.xlsx").read_bytes(),
        "c.html": b"<p>Page</p>",
    }
    path.write_bytes(zip_of({**members, "d.tar.gz": _tar({"e.md": b"# Leave\n\nDays"}, "w:gz")}))
    blob = Blob(name=path.name, media_type="", path=path, digest="", size=path.stat().st_size, uri="")
    async with parser_pool(workers=1, seconds=60, memory_bytes=1 << 30) as pool:
        places = [section.anchor async for batch in pool.parse(blob) for section in batch]
        assert {"out.txt › line 1", "d.tar.gz › e.md › § Leave"} < set(places)
        path.write_bytes(_nested(4))
        with pytest.raises(UserError):
            [batch async for batch in pool.parse(blob)]
        path.write_bytes(_tar({f"{number}.txt": b"" for number in range(1_200)}))
        with pytest.raises(FileTooLarge, match=r"^It holds more than is read at once"):
            [batch async for batch in pool.parse(blob)]
    assert sorted(os.listdir(tmp_path)) == ["all.zip", "budget.xlsx"]  # noqa: PTH208 - not to block, says another rule


def test_apple_documents_are_read_from_their_preview(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf")
    path = tmp_path / "a.pages"
    path.write_bytes(
        zip_of({"Index/Document.iwa": b"x", "QuickLook/Preview.pdf": (tmp_path / "a.pdf").read_bytes()})
    )
    assert parser_name(path, path.name) == "iwork"
    sections = list(iwork.parse(path))
    assert sections[0].anchor == "p. 1"
    assert any(GERMAN in section.text for section in sections)
