from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from bot.access import permissions
from bot.cli._shared import terminal
from bot.composition.storage import storage as open_storage
from bot.maintenance import data_files
from bot.store import feedback
from rag_engine.errors import UserError
from rag_engine.storage.private_files import make_file
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import DocumentId, KnowledgeBaseId, TurnId

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from bot.composition.components import StorageComponents
    from bot.settings import Settings
    from bot.store.feedback import RatedAnswer
    from rag_engine.types import Trace

_MARKER: Final = re.compile(r"\s?\[\d{1,4}\]")
_MENTION: Final = re.compile(r"<[@!#&][^>\s]*>|(?<!\w)@[\w.-]+")
_FACT: Final = re.compile(
    r"(?P<number>\d(?:[\d.,:/]*\d)?)(?:[ \u00a0]?[%€$£]| [^\W\d_]+)?|[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+|\b[A-Z][A-Z\d]{1,9}\b"
)
_MOST_FACTS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    row: Mapping[str, object]
    knowledge_bases: frozenset[KnowledgeBaseId]


async def write(target: Path, settings: Settings) -> int:
    if not settings.chat.feedback_export:
        raise UserError(
            "Rated questions are other people's words: set FOOTNOTE_CHAT__FEEDBACK_EXPORT=true once those who ask know "
            "that they may become an evaluation set."
        )
    path = settings.data_dir / data_files.CHAT
    rated: list[RatedAnswer] = []
    names: list[str] = []
    if await asyncio.to_thread(path.exists):
        async with connect(path, scripts=data_files.migrations()[data_files.CHAT]) as chat:
            rated = await feedback.listed(chat)
            rows = await chat.fetch(
                "SELECT DISTINCT name FROM answers WHERE name <> '' UNION SELECT person FROM answers"
            )
            names = [name for (name,) in rows if name]
    async with open_storage(settings) as storage:
        found = await _questions(rated, storage, names)
        kept, review = ([each for each in found if ("reason" in each.row) == down] for down in (False, True))
        single = target.suffix == ".jsonl"
        corpus = [] if single else await _corpus(kept, storage)
    if not kept:
        raise UserError(
            "No answer that may be exported was rated helpful and states a figure or name that its files hold."
        )
    questions = target if single else target / "questions.jsonl"
    await asyncio.to_thread(_write, questions, [each.row for each in kept])
    if not single:
        await asyncio.to_thread(_write, target / "corpus.jsonl", corpus)
        await asyncio.to_thread(_write, target / "to_review.jsonl", [each.row for each in review])
    terminal.print_text(
        f"{len(kept)} questions in {questions}, {len(review)} rated down"
        + ("." if single else f" for you to complete in {target / 'to_review.jsonl'}.")
    )
    return 0


async def _questions(
    rated: Sequence[RatedAnswer], storage: StorageComponents, names: Sequence[str]
) -> list[_Kept]:
    down = {each.turn: each.reason or "unsaid" for each in rated if each.rating == "down"}
    public = {each.turn for each in rated if each.question}
    kept: list[_Kept] = []
    for turn in sorted(public):
        trace = await storage.history.trace(TurnId(turn))
        said = await storage.history.turn(TurnId(turn))
        if trace is None or said is None or trace.turn != turn:
            continue
        row = _row(trace, said.text, down.get(turn, ""), names)
        if row is not None:
            bases = frozenset(
                map(KnowledgeBaseId, cast("list[str]", trace.details.get("knowledge_bases", [])))
            )
            kept.append(_Kept(row=row, knowledge_bases=bases))
    return kept


def _row(trace: Trace, answer: str, reason: str, names: Sequence[str]) -> dict[str, object] | None:
    question = str(trace.details.get("searched_for") or trace.details.get("question") or "")
    text = without_people(question, names)
    if reason:
        return {"question": text, "reason": reason, "answers": []}
    citations = cast("list[dict[str, Any]]", trace.details.get("citations", []))
    if not citations:
        return {"question": text, "unanswerable": True, "kind": "rated"}
    quotes = [str(each["quote"]) for each in citations]
    answers = facts(_MARKER.sub("", answer), quotes, question)
    if not answers:
        return None
    documents = list(dict.fromkeys(str(each["document"]) for each in citations))
    return {"question": text, "answers": answers, "documents": documents, "kind": "rated"}


def facts(answer: str, quotes: Iterable[str], question: str) -> list[str]:
    held, asked = "\n".join(quotes).casefold(), question.casefold()
    found: dict[str, None] = {}
    for match in _FACT.finditer(answer):
        for text in filter(None, (match[0], match["number"])):
            if text.casefold() in held and text.casefold() not in asked:
                found[text] = None
                break
    return list(found)[:_MOST_FACTS]


def without_people(text: str, names: Sequence[str]) -> str:
    text = _MENTION.sub("someone", text)
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "someone", text, flags=re.IGNORECASE)
    return text


async def _corpus(kept: Sequence[_Kept], storage: StorageComponents) -> list[dict[str, object]]:
    wanted = frozenset[KnowledgeBaseId]().union(*(each.knowledge_bases for each in kept))
    rows: list[dict[str, object]] = []
    for base in await permissions.all_of(storage.catalog):
        for record in await storage.catalog.records(base.id) if base.id in wanted else ():
            sections = await storage.catalog.sections(DocumentId(record.document.id))
            text = "\n\n".join(section.text for section in sections)
            rows.append({"_id": record.document.id, "title": record.document.title, "text": text})
    return rows


def _write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    try:
        make_file(path)
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from error
