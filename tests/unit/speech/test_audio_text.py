"""Audio files become text with times."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import EmptyDocument, FileTooLarge, RagError, UnsupportedFile
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.parsers.media import audio
from rag_engine.parsing.media_types import parser_name
from rag_engine.parsing.pool import parser_pool
from rag_engine.speech.audio_text import AudioText
from rag_engine.speech.types import Transcript, Utterance
from tests.doubles.audio_server import wav

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.types import Blob, Section

MEETING = (
    (0, 4, "Welcome to the meeting of March."),
    (4, 9, "We begin with the budget."),
    (192, 200, "The harbour gets a second crane for nine thousand euros."),
)


class Typist:
    most_bytes = 1_000_000
    most_seconds = 60.0

    def __init__(self, *spoken: tuple[float, float, str]) -> None:
        self.spoken = spoken
        self.heard: list[str] = []

    async def transcribe(self, path: Path, *, suffix: str) -> Transcript:
        self.heard.append(suffix)
        said = tuple(Utterance(start=start, end=end, text=text) for start, end, text in self.spoken)
        return Transcript(utterances=said)


async def parsed(blob: Blob) -> AsyncGenerator[list[Section]]:
    async with parser_pool(workers=1, seconds=20, memory_bytes=192 << 20) as pool:
        async for batch in pool.parse(blob):
            yield batch


async def text(path: Path, typist: Typist | None) -> list[Section]:
    blob = await blob_from_path(path, uri="", max_bytes=10_000_000)
    reading = AudioText(parse_file=parsed, transcriber=typist)
    return [section async for batch in reading.parse(blob) for section in batch]


@pytest.mark.process
async def test_a_recording_is_text_with_times(tmp_path: Path) -> None:
    path = tmp_path / "meeting.wav"
    path.write_bytes(wav(2.0))
    typist = Typist(*MEETING)
    beginning, crane, stated = await text(path, typist)
    assert (beginning.text, beginning.anchor) == (
        "Welcome to the meeting of March. We begin with the budget.",
        "00:00:00–00:00:09",
    )
    assert (crane.text, crane.anchor) == (MEETING[2][2], "00:03:12–00:03:20")
    assert (stated.kind, stated.text) == ("properties", '{"duration": ["2.0"]}')
    assert typist.heard == ["wav"]


@pytest.mark.process
async def test_what_is_too_long_is_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "talk.wav"
    path.write_bytes(wav(61.0))
    typist = Typist(*MEETING)
    with pytest.raises(FileTooLarge, match="longer than 1 minutes"):
        await text(path, typist)
    typist.most_bytes = 1000
    with pytest.raises(FileTooLarge, match="1 MB"):
        await text(path, typist)
    assert not typist.heard


@pytest.mark.process
@pytest.mark.parametrize(
    ("typist", "error", "said"),
    [
        (None, UnsupportedFile, "FOOTNOTE_TRANSCRIPTION__BASE_URL"),
        (Typist(), EmptyDocument, "No words are heard in talk.wav"),
    ],
)
async def test_what_is_missing_is_said(
    tmp_path: Path, typist: Typist | None, error: type[RagError], said: str
) -> None:
    path = tmp_path / "talk.wav"
    path.write_bytes(wav(1.0))
    with pytest.raises(error, match=said):
        await text(path, typist)


@pytest.mark.process
async def test_other_files_are_read_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "talk.md"
    path.write_text("# Talk\n\nWords.\n")
    assert [section.text for section in await text(path, None)] == ["Talk\n\nWords."]


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("a.mp3", b"ID3\x04\x00"),
        ("voice", b"OggS\x00\x02" + bytes(60)),
        ("a.m4a", b"\x00\x00\x00\x20ftypisom" + bytes(60)),
        ("clip.mp4", b"\x00\x00\x00\x20ftypM4A " + bytes(60)),
        ("a.flac", b"fLaC\x00\x00" + bytes(60)),
        ("a.webm", b"\x1aE\xdf\xa3" + bytes(60)),
        ("a.wav", b"RIFF\x00\x00\x00\x00WAVE" + bytes(60)),
    ],
)
def test_audio_is_known_by_its_bytes(tmp_path: Path, name: str, beginning: bytes) -> None:
    path = tmp_path / "upload"
    path.write_bytes(beginning)
    assert parser_name(path, name) == "audio"
    audio.properties(path)  # damaged or not


@pytest.mark.process
@pytest.mark.skipif(not shutil.which("ffmpeg"), reason="ffmpeg is not installed")
@pytest.mark.parametrize("suffix", ["mp3", "m4a", "ogg", "opus", "flac"])
def test_the_length_of_real_files_is_read(tmp_path: Path, suffix: str) -> None:
    source, path = tmp_path / "a.wav", tmp_path / f"a.{suffix}"
    source.write_bytes(wav(3.0))
    subprocess.run(["ffmpeg", "-v", "error", "-i", source, path], check=True, timeout=20)  # noqa: S607
    assert parser_name(path, path.name) == "audio"
    assert float(audio.properties(path)["duration"][0]) == pytest.approx(3.0, abs=0.25)
