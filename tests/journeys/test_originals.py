"""PDFs that are added on the command line are kept for pictures of their pages, until they are removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.doubles.audio_server import audio_server, wav
from tests.page_marks import pdf

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote


def kept(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in (folder / "data" / "originals").glob("*")]


async def test_a_pdf_is_kept_while_a_knowledge_base_has_it(footnote: Footnote, tmp_path: Path) -> None:
    content = pdf("Logs are kept for two weeks.")
    (tmp_path / "logs.pdf").write_bytes(content)
    (tmp_path / "notes.md").write_text("# Notes\n\nBackups are kept for a year.\n")
    for base in ("team", "other"):
        await footnote("add", "logs.pdf", "notes.md", "--kb", base)
    assert kept(tmp_path) == [content]
    await footnote("kb", "remove", "team", "logs.pdf", "--yes")
    assert kept(tmp_path) == [content]
    await footnote("kb", "remove", "other", "--yes")
    assert kept(tmp_path) == []


async def test_nothing_is_kept_where_the_operator_wants_that(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "logs.pdf").write_bytes(pdf("Logs are kept for two weeks."))
    added = await footnote("add", "logs.pdf", FOOTNOTE_INGESTION__ORIGINALS_MB="0")
    assert added.code == 0
    assert kept(tmp_path) == []


async def test_a_transcript_and_audio_go_with_their_document(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "meeting.wav").write_bytes(wav(0.2))
    async with audio_server() as server:
        server.hears = [(192.2, 200.0, "The harbour gets a second crane for nine thousand euros.")]
        audio = {
            "FOOTNOTE_TRANSCRIPTION__BASE_URL": server.url,
            "FOOTNOTE_SPEECH__BASE_URL": server.url,
            "FOOTNOTE_SPEECH__FORMAT": "wav",
        }
        await footnote("add", "meeting.wav", **audio)
        asked = await footnote("ask", "What does the second crane cost?", "--speak", "answer.wav", **audio)
        assert "meeting.wav — 00:03:12–00:03:20" in asked.out
        assert (tmp_path / "answer.wav").read_bytes().startswith(b"RIFF")
        assert len(list((tmp_path / "data" / "speech").iterdir())) == 1
        forgotten = await footnote("forget", "document", "default", "meeting.wav", "--yes")
    assert forgotten.code == 0
    assert not (tmp_path / "data" / "speech").exists()
    assert not [
        path for path in (tmp_path / "data").rglob("*") if path.is_file() and b"crane" in path.read_bytes()
    ]
