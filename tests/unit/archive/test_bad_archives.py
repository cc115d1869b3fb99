"""A bad archive is refused in one sentence that names what is wrong, and nothing is touched."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import zipfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rag_engine import archive
from rag_engine.errors import CorruptFile, EncryptedFile, FileTooLarge, UnsupportedFile, UserError
from tests.unit.archive.shelf import IDENTITY, Shelf, shelf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rag_engine.ports import IndexIdentity

VERIFIED = {"question": "Who?", "answer": "Ada.", "author": "Ada", "written_at": 1.0}
LINES = ("documents.jsonl", "chunks.jsonl", "vectors.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """The members of a sound export, to be spoilt one by one."""

    members: dict[str, bytes]

    def rows(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.members[name].splitlines()]

    def manifest(self) -> dict[str, Any]:
        return json.loads(self.members["manifest.json"])

    def having(self, name: str, rows: list[dict[str, Any]]) -> Export:
        """Another content of a member, with a manifest that agrees."""
        content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        manifest = self.manifest()
        digest = hashlib.sha256(content).hexdigest()
        manifest["members"][name] = {"lines": len(rows), "bytes": len(content), "sha256": digest}
        return self.but(name, content).but("manifest.json", json.dumps(manifest).encode())

    def but(self, name: str, content: bytes | None) -> Export:
        """Another content of a member, or none, with the manifest as it is."""
        members = {**self.members, name: content}
        return replace(self, members={key: value for key, value in members.items() if value is not None})

    def told(self, change: Callable[[dict[str, Any]], None]) -> Export:
        """Another manifest."""
        manifest = self.manifest()
        change(manifest)
        return self.but("manifest.json", json.dumps(manifest).encode())

    def write(self, file: Path) -> Path:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
            for name, content in self.members.items():
                opened.writestr(name, content)
        return file


@pytest.fixture
async def sound(tmp_path: Path) -> Export:
    file = tmp_path / "sound.zip"
    async with shelf(tmp_path / "here") as here:
        base = await here.fill(documents=2, chunks=2)
        await here.fail(base, "cat")
        await archive.export(base, file, library=here.catalog, contents=here.index, identity=IDENTITY)
    with zipfile.ZipFile(file) as opened:
        return Export(members={name: opened.read(name) for name in opened.namelist()})


async def expect_refusal(
    there: Shelf,
    file: Path,
    kind: type[UserError],
    said: str,
    *,
    identity: IndexIdentity = IDENTITY,
    limits: archive.ArchiveLimits | None = None,
) -> None:
    """The import raises that, in one sentence of one line, and leaves no trace."""
    with pytest.raises(kind, match=re.escape(said)) as caught:
        await archive.import_(
            file,
            catalog=there.catalog,
            documents=there.catalog,
            index=there.index,
            identity=identity,
            limits=limits,
        )
    assert "\n" not in str(caught.value)
    assert await there.catalog.knowledge_bases() == []
    assert there.index.documents == {}


async def test_the_fixture_is_sound(there: Shelf, sound: Export, tmp_path: Path) -> None:
    file = sound.write(tmp_path / "kb.zip")
    told = await archive.import_(
        file, catalog=there.catalog, documents=there.catalog, index=there.index, identity=IDENTITY
    )
    assert (told.documents, told.chunks) == (3, 4)


async def test_a_missing_file(there: Shelf, tmp_path: Path) -> None:
    await expect_refusal(
        there, tmp_path / "no.zip", UserError, "no.zip cannot be read: there is no such file or folder."
    )


async def test_a_folder(there: Shelf, tmp_path: Path) -> None:
    await expect_refusal(there, tmp_path, UserError, "cannot be read: is a directory.")


async def test_a_pipe_is_neither_read_nor_replaced(there: Shelf, here: Shelf, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.zip"
    os.mkfifo(pipe)
    await expect_refusal(there, pipe, UserError, "pipe.zip cannot be read: it is no file.")
    base = await here.fill()
    with pytest.raises(UserError, match="cannot be written: it is no file"):
        await archive.export(base, pipe, library=here.catalog, contents=here.index, identity=IDENTITY)
    assert pipe.is_fifo()


async def test_an_export_to_a_link_replaces_what_it_leads_to(here: Shelf, tmp_path: Path) -> None:
    link, file = tmp_path / "latest.zip", tmp_path / "monday.zip"
    link.symlink_to(file)
    base = await here.fill()
    await archive.export(base, link, library=here.catalog, contents=here.index, identity=IDENTITY)
    assert link.is_symlink()
    assert zipfile.is_zipfile(file)


async def test_no_zip_at_all(there: Shelf, tmp_path: Path) -> None:
    (tmp_path / "kb.zip").write_bytes(b"%PDF-1.7")
    said = "kb.zip is damaged, or no export of Footnote: it is no sound zip archive (File is not a zip file)"
    await expect_refusal(there, tmp_path / "kb.zip", CorruptFile, said)


@pytest.mark.parametrize(
    "name", ["model.pkl", "../../etc/passwd", "/etc/passwd", "documents.jsonl/../x", "C:\\x.dll"]
)
async def test_a_member_that_no_export_has(there: Shelf, sound: Export, tmp_path: Path, name: str) -> None:
    file = sound.but(name, b"\x80\x04cos\nsystem\n").write(tmp_path / "kb.zip")
    await expect_refusal(
        there, file, UnsupportedFile, f"kb.zip holds {name!r}, which no export of Footnote has"
    )


@pytest.mark.parametrize("name", ["manifest.json", *LINES])
async def test_a_member_that_is_missing(there: Shelf, sound: Export, tmp_path: Path, name: str) -> None:
    file = sound.but(name, None).write(tmp_path / "kb.zip")
    await expect_refusal(there, file, CorruptFile, f"it lacks {name}.")


@pytest.mark.filterwarnings("ignore:Duplicate name")
async def test_a_member_that_is_there_twice(there: Shelf, sound: Export, tmp_path: Path) -> None:
    file = sound.write(tmp_path / "kb.zip")
    with zipfile.ZipFile(file, "a") as opened:
        opened.writestr("chunks.jsonl", b"")
    await expect_refusal(there, file, CorruptFile, "it has chunks.jsonl twice")


async def test_a_password(there: Shelf, sound: Export, tmp_path: Path) -> None:
    file = sound.write(tmp_path / "kb.zip")
    spoilt = bytearray(file.read_bytes())
    for at in (match.start() for match in re.finditer(b"PK\x01\x02", bytes(spoilt))):
        spoilt[at + 8] |= 1
    file.write_bytes(spoilt)
    await expect_refusal(there, file, EncryptedFile, "kb.zip is protected by a password")


async def test_another_compression(there: Shelf, sound: Export, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "kb.zip", "w", zipfile.ZIP_LZMA) as opened:
        for name, content in sound.members.items():
            opened.writestr(name, content)
    await expect_refusal(there, tmp_path / "kb.zip", CorruptFile, "compressed in a way no export is")


async def test_a_zip_bomb(there: Shelf, sound: Export, tmp_path: Path) -> None:
    file = sound.but("chunks.jsonl", b"0" * 50_000_000).write(tmp_path / "kb.zip")
    limits = archive.ArchiveLimits(free_bytes=1_000_000)
    await expect_refusal(there, file, FileTooLarge, "kb.zip would unpack to 50,0", limits=limits)


async def test_a_line_without_end(there: Shelf, sound: Export, tmp_path: Path) -> None:
    rows = sound.rows("chunks.jsonl")
    rows[1]["text"] = "x" * 100_000
    file = sound.having("chunks.jsonl", rows).write(tmp_path / "kb.zip")
    limits = archive.ArchiveLimits(line_bytes=10_000)
    await expect_refusal(
        there, file, CorruptFile, "chunks.jsonl, line 2: it is longer than 10,000 bytes", limits=limits
    )


async def test_a_digest_that_differs(there: Shelf, sound: Export, tmp_path: Path) -> None:
    content = sound.members["chunks.jsonl"].replace(b"Absatz", b"Absurd")
    file = sound.but("chunks.jsonl", content).write(tmp_path / "kb.zip")
    await expect_refusal(
        there,
        file,
        CorruptFile,
        "chunks.jsonl is not what the manifest says (its lines or its SHA-256 differ)",
    )


async def test_bits_that_fell_over(there: Shelf, sound: Export, tmp_path: Path) -> None:
    file = sound.write(tmp_path / "kb.zip")
    spoilt = bytearray(file.read_bytes())
    middle = len(spoilt) // 2
    spoilt[middle : middle + 8] = b"\x00" * 8
    file.write_bytes(spoilt)
    await expect_refusal(there, file, CorruptFile, "Nothing was imported")


@pytest.mark.parametrize("kept", [0.3, 0.7, 0.99])
async def test_a_download_that_broke_off(there: Shelf, sound: Export, tmp_path: Path, kept: float) -> None:
    file = sound.write(tmp_path / "kb.zip")
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * kept)])
    await expect_refusal(there, file, CorruptFile, "it is no sound zip archive")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "manifest.json: Invalid JSON"),
        (b"[1, 2", "manifest.json: Invalid JSON"),
        (b"[]", "manifest.json: Input should be an object"),
        (b"{}", "manifest.json: version: Field required"),
        (b'{"version": 0}', "manifest.json: version: Input should be greater than or equal to 1"),
        (b'{"version": -3}', "manifest.json: version: Input should be greater than or equal to 1"),
        (b'{"version": 1}', "manifest.json: name: Field required"),
        (b" " * 2_000_000, "manifest.json is too large"),
    ],
)
async def test_a_manifest_that_is_none(
    there: Shelf, sound: Export, tmp_path: Path, content: bytes, said: str
) -> None:
    await expect_refusal(
        there, sound.but("manifest.json", content).write(tmp_path / "kb.zip"), CorruptFile, said
    )


async def test_a_newer_format(there: Shelf, sound: Export, tmp_path: Path) -> None:
    file = sound.told(lambda manifest: manifest.update(version=7, news=True)).write(tmp_path / "kb.zip")
    said = "kb.zip was made by a newer Footnote (format 7, this one reads 6): update Footnote."
    await expect_refusal(there, file, UnsupportedFile, said)


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        (replace(IDENTITY, model="e5"), "another embedding model (all-MiniLM-L6-v2@fp32; here it is e5)"),
        (replace(IDENTITY, dimensions=768), "vectors of another length (384; here it is 768)"),
        (replace(IDENTITY, analyzer="4"), "another text analyzer (3; here it is 4)"),
    ],
)
async def test_another_identity(
    there: Shelf, sound: Export, tmp_path: Path, identity: IndexIdentity, said: str
) -> None:
    await expect_refusal(there, sound.write(tmp_path / "kb.zip"), UnsupportedFile, said, identity=identity)


async def test_a_line_that_is_no_json(there: Shelf, sound: Export, tmp_path: Path) -> None:
    content = sound.members["documents.jsonl"].replace(b'{"id"', b'{"id', 1)

    def agree(manifest: dict[str, Any]) -> None:
        manifest["members"]["documents.jsonl"]["bytes"] = len(content)

    file = sound.told(agree).but("documents.jsonl", content).write(tmp_path / "kb.zip")
    await expect_refusal(there, file, CorruptFile, "documents.jsonl, line 1: Invalid JSON")


def _unit(scale: float) -> str:
    return base64.b64encode((np.ones(384, dtype="<f4") * scale).tobytes()).decode()


@pytest.mark.parametrize(
    ("name", "row", "change", "said"),
    [
        ("documents.jsonl", 0, {"state": "queued"}, "documents.jsonl, line 1: state"),
        ("documents.jsonl", 0, {"size": -1}, "documents.jsonl, line 1: size"),
        ("documents.jsonl", 0, {"size": 1 << 63}, "documents.jsonl, line 1: size"),
        ("documents.jsonl", 0, {"pages": 1 << 63}, "documents.jsonl, line 1: pages"),
        ("chunks.jsonl", 0, {"ordinal": 1 << 63}, "chunks.jsonl, line 1: ordinal"),
        ("documents.jsonl", 0, {"sections": 99}, "documents.jsonl, line"),
        ("documents.jsonl", 0, {"title": "x" * 10_001}, "documents.jsonl, line 1: title: String should"),
        ("documents.jsonl", 0, {"uri": "x" * 10_001}, "documents.jsonl, line 1: uri: String should"),
        ("documents.jsonl", 0, {"reason": "x" * 10_001}, "documents.jsonl, line 1: reason: String should"),
        ("documents.jsonl", 0, {"sources": ["x" * 10_001]}, "documents.jsonl, line 1: sources.0: String"),
        ("documents.jsonl", 0, {"verified": VERIFIED | {"author": "x" * 10_001}}, "verified.author: String"),
        ("documents.jsonl", 0, {"verified": VERIFIED | {"uri": "x" * 10_001}}, "verified.uri: String"),
        ("chunks.jsonl", 0, {"title": "x" * 10_001}, "chunks.jsonl, line 1: title: String should"),
        ("chunks.jsonl", 0, {"uri": "x" * 10_001}, "chunks.jsonl, line 1: uri: String should"),
        (
            "documents.jsonl",
            0,
            {"script": "x"},
            "documents.jsonl, line 1: script: Extra inputs are not permitted",
        ),
        (
            "documents.jsonl",
            0,
            {"tags": ["x" * 10_000]},
            "documents.jsonl, line 1: tags: Value error, A tag has",
        ),
        (
            "documents.jsonl",
            0,
            {"tags": ["a,b"]},
            "documents.jsonl, line 1: tags: Value error, A tag is a word",
        ),
        ("documents.jsonl", 0, {"tags": [str(n) for n in range(51)]}, "documents.jsonl, line 1: tags: Tuple"),
        (
            "documents.jsonl",
            0,
            {"properties": {"author": "Ada"}},
            "documents.jsonl, line 1: properties.author",
        ),
        ("documents.jsonl", 1, {"kind": "poem"}, "documents.jsonl, line 2: kind"),
        ("chunks.jsonl", 1, {"ordinal": 0}, "chunks.jsonl, line 2: the ordinals of a document do not ascend"),
        ("chunks.jsonl", 1, {"ordinal": "1"}, "chunks.jsonl, line 2: ordinal"),
        ("chunks.jsonl", 1, {"text": None}, "chunks.jsonl, line 2: text"),
        ("chunks.jsonl", 3, {"document": "stranger"}, "chunks.jsonl, line 4: it belongs to no document"),
        (
            "chunks.jsonl",
            2,
            {"id": "other"},
            "vectors.jsonl, line 3: it is not the vector of the chunk on the same line",
        ),
        ("vectors.jsonl", 0, {"vector": "!!"}, "vectors.jsonl, line 1: it is not base64"),
        (
            "vectors.jsonl",
            0,
            {"vector": "AAAA"},
            "vectors.jsonl, line 1: it does not have the 384 dimensions",
        ),
        ("vectors.jsonl", 0, {"vector": _unit(5)}, "vectors.jsonl, line 1: its length is not 1"),
        (
            "vectors.jsonl",
            0,
            {"vector": _unit(float("nan"))},
            "vectors.jsonl, line 1: its length is not 1",
        ),
    ],
)
async def test_a_line_that_cannot_be(
    there: Shelf, sound: Export, tmp_path: Path, name: str, row: int, change: dict[str, Any], said: str
) -> None:
    rows = sound.rows(name)
    rows[row].update(change)
    await expect_refusal(there, sound.having(name, rows).write(tmp_path / "kb.zip"), CorruptFile, said)


async def test_names_cannot_bring_characters_that_control_a_terminal_or_turn_the_direction(
    there: Shelf, sound: Export, tmp_path: Path
) -> None:
    rows = sound.rows("documents.jsonl")
    rows[0]["title"] = "\x1b[2Jbudget\u202efdp.exe"
    await archive.import_(
        sound.having("documents.jsonl", rows).write(tmp_path / "kb.zip"),
        catalog=there.catalog,
        documents=there.catalog,
        index=there.index,
        identity=IDENTITY,
    )
    (base,) = await there.catalog.knowledge_bases()
    assert "[2Jbudgetfdp.exe" in {each.document.title for each in await there.catalog.records(base.id)}


async def test_passages_of_a_document_that_failed(there: Shelf, sound: Export, tmp_path: Path) -> None:
    rows = sound.rows("documents.jsonl")
    rows[0]["state"] = "failed"
    file = sound.having("documents.jsonl", rows).write(tmp_path / "kb.zip")
    await expect_refusal(
        there, file, CorruptFile, "chunks.jsonl, line 1: it belongs to a document that failed"
    )


async def test_a_document_or_a_passage_that_comes_twice(there: Shelf, sound: Export, tmp_path: Path) -> None:
    rows = sound.rows("documents.jsonl")
    file = sound.having("documents.jsonl", [*rows[:3], *rows]).write(tmp_path / "kb.zip")
    await expect_refusal(there, file, CorruptFile, "the document 'doc-0.pdf' comes twice")
    chunks, vectors = sound.rows("chunks.jsonl"), sound.rows("vectors.jsonl")
    chunks[3]["id"] = vectors[3]["chunk"] = chunks[0]["id"]
    twice = sound.having("chunks.jsonl", chunks).having("vectors.jsonl", vectors)
    await expect_refusal(
        there, twice.write(tmp_path / "kb.zip"), CorruptFile, "chunks.jsonl, line 4: its id comes twice"
    )


@pytest.mark.parametrize("name", LINES)
async def test_a_member_that_is_shorter_or_longer_than_declared(
    there: Shelf, sound: Export, tmp_path: Path, name: str
) -> None:
    rows = sound.rows(name)
    for spoilt in (rows[:-1], [*rows, rows[-1]]):
        file = sound.having(name, spoilt).write(tmp_path / "kb.zip")
        await expect_refusal(there, file, CorruptFile, "Nothing was imported")


async def test_a_name_that_can_be_none(there: Shelf, sound: Export, tmp_path: Path) -> None:
    file = sound.told(lambda manifest: manifest.update(name="x" * 200)).write(tmp_path / "kb.zip")
    await expect_refusal(there, file, UserError, "The name of a knowledge base may have 80 characters")


async def test_a_document_of_another_knowledge_base_cannot_be_taken_over(
    there: Shelf, sound: Export, tmp_path: Path
) -> None:
    victim = await there.fill("Board", documents=1, chunks=1)
    (((_, stolen), rows),) = there.index.documents.items()
    documents, chunks = sound.rows("documents.jsonl"), sound.rows("chunks.jsonl")
    for row in chunks:
        row["document"] = stolen if row["document"] == documents[0]["id"] else row["document"]
    documents[0]["id"] = stolen
    file = (
        sound.having("documents.jsonl", documents).having("chunks.jsonl", chunks).write(tmp_path / "kb.zip")
    )
    with pytest.raises(UserError, match="belongs to another knowledge base"):
        await archive.import_(
            file, catalog=there.catalog, documents=there.catalog, index=there.index, identity=IDENTITY
        )
    assert there.index.documents == {(victim.id, stolen): rows}
