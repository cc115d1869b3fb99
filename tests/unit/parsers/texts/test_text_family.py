"""Every text format in the sandbox, where lazy imports must work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rag_engine.parsing.pool import parser_pool
from rag_engine.types import Blob

if TYPE_CHECKING:
    from pathlib import Path

_FILES = {
    "page.html": "<h1>T</h1><p>words in it</p>",
    "notes.md": "# T\n\nwords in it[^1]\n\n[^1]: note\n",
    "guide.rst": "T\n=\n\nwords in it\n",
    "guide.adoc": "= T\n\nwords in it\n",
    "paper.tex": "\\section{T} words in it",
    "book.ipynb": json.dumps({"cells": [{"cell_type": "markdown", "source": ["words in it"]}]}),
    "data.json": '{"a": "words in it"}',
    "data.jsonl": '{"a": "words in it"}\n{"a": 2}\n',
    "data.yml": "a: words in it\n",
    "data.toml": 'a = "words in it"\n',
    "data.ini": "[a]\nb = words in it\n",
    "data.xml": "<a><b>words in it</b></a>",
    "paper.nxml": "<article><body><p>words in it</p></body></article>",
    "film.srt": "1\n00:00:01,000 --> 00:00:02,000\nwords in it\n",
    "film.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\nwords in it\n",
    "old.txt": "words in it\r\n",
    "mac.txt": "words in it; schöne Grüße aus Köln".encode("mac_roman"),
    **{
        f"program.{suffix}": "// words in it\n"
        for suffix in ("js", "ts", "tsx", "java", "go", "rs", "c", "h", "cpp", "cs", "kt", "swift")
    },
    **{f"program.{suffix}": "# words in it\n" for suffix in ("py", "rb", "sh", "r", "pl")},
    "program.php": "<?php // words in it\n",
    "program.sql": "-- words in it\n",
}


@pytest.mark.process
async def test_every_format_is_read_in_the_sandbox(tmp_path: Path) -> None:
    texts: dict[str, str] = {}
    async with parser_pool(workers=1, seconds=30, memory_bytes=1 << 30) as pool:
        for name, content in _FILES.items():
            path = tmp_path / name
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            blob = Blob(name=name, media_type="", path=path, digest="", size=path.stat().st_size, uri="")
            texts[name] = " ".join([section.text async for batch in pool.parse(blob) for section in batch])
    assert {name for name, text in texts.items() if "words in it" not in text} == set()
