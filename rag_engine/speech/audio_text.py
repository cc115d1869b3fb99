from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from rag_engine.errors import EmptyDocument, FileTooLarge, UnsupportedFile, UserError
from rag_engine.parsers.media.subtitles import Cue, timed_sections
from rag_engine.parsing.media_types import parser_name, shown, suffix_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from rag_engine.speech.types import Transcriber, Transcript
    from rag_engine.types import Blob, Section

_PARSER: Final = "audio"


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioText:
    parse_file: Callable[[Blob], AsyncGenerator[list[Section]]]
    transcriber: Transcriber | None

    async def parse(self, blob: Blob) -> AsyncGenerator[list[Section]]:
        stated: list[Section] = []
        is_audio = _is_audio(blob)
        if is_audio:
            check(blob, self.transcriber)
        async with aclosing(self.parse_file(blob)) as batches:
            async for batch in batches:
                stated += batch if is_audio else ()
                if not is_audio:
                    yield batch
        if is_audio and self.transcriber is not None:
            seconds = _seconds(stated)
            if seconds > self.transcriber.most_seconds:
                raise FileTooLarge(
                    f"{shown(blob.name)} is longer than {self.transcriber.most_seconds / 60:.0f} minutes; cut it into parts."
                )
            transcript = await self.transcriber.transcribe(blob.path, suffix=suffix_of(blob.name))
            yield [*sections(transcript, blob.name), *stated]


def check(blob: Blob, transcriber: Transcriber | None) -> None:
    """Raises `UnsupportedFile` without a transcriber, or `FileTooLarge`."""
    if transcriber is None:
        raise UnsupportedFile(
            "Audio files cannot be heard here: the operator sets FOOTNOTE_TRANSCRIPTION__BASE_URL to a server."
        )
    if blob.size > transcriber.most_bytes:
        size, most = blob.size / 1e6, transcriber.most_bytes / 1e6
        raise FileTooLarge(
            f"{shown(blob.name)} has {size:,.0f} MB, and at most {most:,.0f} MB are read; split it into smaller files."
        )


def sections(transcript: Transcript, name: str) -> list[Section]:
    cues = (Cue(int(one.start), int(one.end), (one.text,)) for one in transcript.utterances)
    found = list(timed_sections(cues))
    if not found:
        raise EmptyDocument(f"No words are heard in {shown(name)}, so there is nothing to search.")
    return found


def _is_audio(blob: Blob) -> bool:
    try:
        return parser_name(blob.path, blob.name) == _PARSER
    except UserError:
        return False


def _seconds(stated: list[Section]) -> float:
    for section in stated:
        if section.kind == "properties":
            found = cast("dict[str, list[str]]", json.loads(section.text))
            return max(map(float, found.get("duration", ["0"])))
    return 0.0
