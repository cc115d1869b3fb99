"""What is to be forgotten, as ids, and the file in which that outlives the process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.keeping.contents import FORGETTING
from rag_engine.storage.faults import translate_errors
from rag_engine.types import DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from pathlib import Path


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Person(_Value):
    platform: str
    id: str


class Channel(_Value):
    """A channel with all its threads."""

    platform: str
    workspace: str
    channel: str


class MarkedDocument(_Value):
    """A document with what stands for it elsewhere."""

    knowledge_base: KnowledgeBaseId = KnowledgeBaseId("")
    """Empty where none has it any more."""
    document: DocumentId
    uris: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    """SHA-256 of its passages in hex, under which their vectors are cached."""


class Marks(_Value):
    """All that goes. `subject` is what the operator called it."""

    subject: str
    people: tuple[Person, ...] = ()
    channels: tuple[Channel, ...] = ()
    knowledge_bases: tuple[KnowledgeBaseId, ...] = ()
    """Those that go as a whole; their documents are marked, too."""
    documents: tuple[MarkedDocument, ...] = ()
    answers: tuple[str, ...] = ()
    """Ids of questions in chats, with all that came of them."""
    turns: tuple[str, ...] = ()
    """The engine's ids of answers."""

    def ids(self) -> list[str]:
        """What must stand nowhere any more."""
        return [
            *(person.id for person in self.people),
            *(channel.channel for channel in self.channels),
            *(document.document for document in self.documents),
        ]


def write_down(marks: Marks, data_dir: Path) -> None:
    """Keep the marks until `strike` is called; when this returns, the disk has them."""
    path = data_dir / FORGETTING
    unfinished = path.with_name(f"{path.name}.part")
    with translate_errors(path):
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(marks.model_dump_json().encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(descriptor)
        unfinished.replace(path)


def interrupted(data_dir: Path) -> Marks | None:
    """What was not forgotten to its end."""
    path = data_dir / FORGETTING
    with translate_errors(path):
        if not path.exists():
            return None
        try:
            return Marks.model_validate_json(path.read_bytes())
        except ValidationError:
            path.unlink()  # another version's: what it names is named again, or is gone
            return None


def strike(data_dir: Path) -> None:
    """It has been forgotten."""
    with translate_errors(data_dir / FORGETTING):
        (data_dir / FORGETTING).unlink(missing_ok=True)
