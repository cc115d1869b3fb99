from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from rag_engine.errors import UserError
from rag_engine.evaluation.dataset import find, objects, string
from rag_engine.text.language import detect

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldQuestion:
    """A right answer holds all `answers`, its quotes all `passages`. `documents`: ids, or paths in `files/`. An
    unanswerable question has none.
    """

    text: str
    answers: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    unanswerable: bool = False
    kind: str = ""
    """E.g. `multi_hop` or `typo`; of an unanswerable question `off_topic` or `near_miss`."""
    language: str = ""


def read_questions(folder: Path) -> list[GoldQuestion]:
    """Raises `UserError` with file and line."""
    path = find(folder, "questions.jsonl")
    questions = [_question(fields, where) for where, fields in objects(path)]
    if not questions:
        raise UserError(f"{path} has no questions.")
    return questions


def _question(fields: dict[str, object], where: str) -> GoldQuestion:
    text = string(fields, "question").strip()
    if not text:
        raise UserError(f"{where}: there is no question.")
    unanswerable = fields.get("unanswerable", False)
    if not isinstance(unanswerable, bool):
        raise UserError(f"{where}: unanswerable must be true or false.")
    question = GoldQuestion(
        text=text,
        answers=_strings(fields, "answers", where),
        documents=_strings(fields, "documents", where),
        passages=_strings(fields, "passages", where),
        unanswerable=unanswerable,
        kind=string(fields, "kind"),
        language=string(fields, "language") or detect(text),
    )
    if unanswerable and (question.answers or question.documents or question.passages):
        raise UserError(f"{where}: an unanswerable question has no answers, documents or passages.")
    if not unanswerable and not question.answers:
        raise UserError(f"{where}: an answerable question needs answers.")
    return question


def _strings(fields: dict[str, object], name: str, where: str) -> tuple[str, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(
        isinstance(item, str) and item for item in cast("list[object]", value)
    ):
        raise UserError(f"{where}: {name} must be a list of texts.")
    return tuple(cast("list[str]", value))
