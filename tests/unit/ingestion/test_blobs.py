from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import (
    EmptyDocument,
    FileTooLarge,
    UnsupportedFile,
    UserError,
)
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.types import (
    Blob,
)

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_blob_says_where_and_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "Größe 1.md"
    path.write_bytes(b"# Hello\n")
    blob = await blob_from_path(path)
    assert blob == Blob(
        name="Größe 1.md",
        media_type="text/markdown",
        path=path,
        digest=hashlib.sha256(b"# Hello\n").hexdigest(),
        size=8,
        uri=path.as_uri(),
    )
    assert (await blob_from_path(path, uri="https://chat.example/1")).uri == "https://chat.example/1"


async def test_files_that_cannot_be_taken_are_refused_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    (tmp_path / "large.txt").write_bytes(b"x" * 2_000_000)
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    expected: list[tuple[str, type[UserError], str]] = [
        ("missing.txt", UserError, "There is no file missing.txt"),
        ("empty.txt", EmptyDocument, "empty.txt is empty"),
        ("large.txt", FileTooLarge, "large.txt has 2 MB, and at most 1 MB"),
        (".", UnsupportedFile, "is a folder"),
        ("empty.txt/inside.txt", UserError, "There is no file inside.txt"),
        ("loop.txt", UserError, "loop.txt cannot be read"),
        ("n" * 300, UserError, "cannot be read"),
    ]
    for name, kind, words in expected:
        with pytest.raises(kind, match=words):
            await blob_from_path(tmp_path / name, max_bytes=1_000_000)
