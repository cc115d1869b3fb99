from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.maintenance.data_files import FORGETTING
from rag_engine.storage.sqlite.errors import translate_errors
from rag_engine.types import DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from pathlib import Path


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ErasedPerson(_Value):
    platform: str
    id: str


class ErasedChannel(_Value):
    platform: str
    workspace: str
    channel: str


class ErasedDocument(_Value):
    knowledge_base: KnowledgeBaseId = KnowledgeBaseId("")
    """Empty if the document was removed before."""
    document: DocumentId
    uris: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    """Hex SHA-256 of passages."""


class ErasureMarks(_Value):
    subject: str
    people: tuple[ErasedPerson, ...] = ()
    channels: tuple[ErasedChannel, ...] = ()
    knowledge_bases: tuple[KnowledgeBaseId, ...] = ()
    documents: tuple[ErasedDocument, ...] = ()
    file_names: tuple[str, ...] = ()
    """Long enough to be looked for in answers."""
    answers: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()

    def ids(self) -> list[str]:
        return [
            *(person.id for person in self.people),
            *(channel.channel for channel in self.channels),
            *(document.document for document in self.documents),
        ]


def save(marks: ErasureMarks, data_dir: Path) -> None:
    path = data_dir / FORGETTING
    unfinished = path.with_name(f"{path.name}.part")
    with translate_errors(path):
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(marks.model_dump_json().encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(descriptor)
        unfinished.replace(path)


def interrupted(data_dir: Path) -> ErasureMarks | None:
    path = data_dir / FORGETTING
    with translate_errors(path):
        if not path.exists():
            return None
        try:
            return ErasureMarks.model_validate_json(path.read_bytes())
        except ValidationError:
            path.unlink()
            return None


def delete(data_dir: Path) -> None:
    with translate_errors(data_dir / FORGETTING):
        (data_dir / FORGETTING).unlink(missing_ok=True)
