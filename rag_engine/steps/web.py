from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.steps import fuse
from rag_engine.steps._outside_passages import OutsidePassages, add_passages
from rag_engine.text.language import question_language

if TYPE_CHECKING:
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Ports, Step
    from rag_engine.steps.fuse import LegTrust

PHASE = "prompt"
POSITION = 8
STATUS = ""

_DONE = "web"


class Settings(BaseModel):
    """Reads pages of the web where a place allows it and the question asks for it or the files do not answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pages: int = Field(default=4, ge=1, le=10)
    """Pages to read."""
    passages: int = Field(default=5, ge=1, le=20)
    """Passages of them to use, never more than a question has of files."""
    embedded: int = Field(default=40, ge=1, le=400)
    """Passages to compare by meaning."""
    seconds: float = Field(default=20, gt=0)
    """Time limit for searching and reading."""
    line: float = Field(default=0.3, ge=0, le=1)
    """Without a language model: the least probability that the pages answer."""


def build(settings: Settings, ports: Ports) -> Step:
    return partial(add_pages, settings=settings, ports=ports, trust=fuse.judge_of(ports.embedder))


async def add_pages(inquiry: Inquiry, *, settings: Settings, ports: Ports, trust: LegTrust) -> Inquiry:
    if not _is_wanted(inquiry) or ports.web is None:
        return inquiry
    web = ports.web

    async def find() -> OutsidePassages:
        language = question_language(inquiry.query.text, chosen=inquiry.query.language)
        pages = await web.pages(inquiry.question, language=language, limit=settings.pages)
        return OutsidePassages(
            chunks=pages.chunks,
            embedded=settings.embedded,
            trace={"pages": list(pages.found), "unread": list(pages.unread)},
        )

    return await add_passages(inquiry, "web", find, settings=settings, ports=ports, trust=trust)


def _is_wanted(inquiry: Inquiry) -> bool:
    query = inquiry.query
    if query.web in ("never", "on_request") or inquiry.route != "search" or _DONE in inquiry.details:
        return False
    return query.web == "asked" or not inquiry.hits
