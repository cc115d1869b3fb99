"""Reads `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`, each plain or `.gz`."""

from __future__ import annotations

import gzip
import json
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from rag_engine.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRow:
    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    questions: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]


def read_corpus(folder: Path) -> Iterator[DatasetRow]:
    """Raises `UserError` with file and line."""
    for where, fields in objects(find(folder, "corpus.jsonl")):
        yield DatasetRow(id=_id(fields, where), title=string(fields, "title"), text=string(fields, "text"))


def count_documents(folder: Path) -> int:
    return sum(1 for _ in _lines(find(folder, "corpus.jsonl")))


def read_judgements(folder: Path) -> Dataset:
    """With a judged document, in file order."""
    grades: dict[str, dict[str, int]] = {}
    for question, document, grade in _grades(find(folder, "qrels.tsv")):
        grades.setdefault(question, {})[document] = grade
    rows = objects(find(folder, "queries.jsonl"))
    questions = {_id(fields, where): string(fields, "text") for where, fields in rows}
    judged = {question: text for question, text in questions.items() if question in grades}
    if not judged:
        raise UserError(
            f"No question of {folder} has a judged document: do its queries.jsonl and qrels.tsv belong together?"
        )
    return Dataset(questions=judged, grades={question: grades[question] for question in judged})


def find(folder: Path, name: str) -> Path:
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}.")
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise UserError(f"{folder} has no {name} and no {name}.gz.")


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    with (
        _readable(path),
        (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig") as file,
    ):
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield f"{path.name}, line {number}", line.rstrip("\r\n")


@contextmanager
def _readable(path: Path) -> Generator[None]:
    try:
        yield
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise UserError(f"{path} cannot be read: {error}.") from error


def objects(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    for where, line in _lines(path):
        try:
            fields = json.loads(line)
        except ValueError as error:
            raise UserError(f"{where}: this is no JSON.") from error
        if not isinstance(fields, dict):
            raise UserError(f"{where}: this is no JSON object.")
        yield where, cast("dict[str, object]", fields)


def _id(fields: dict[str, object], where: str) -> str:
    value = fields.get("id", fields.get("_id"))
    if value is None or value == "":
        raise UserError(f"{where}: there is no id.")
    return str(value)


def string(fields: dict[str, object], name: str) -> str:
    value = fields.get(name)
    return "" if value is None else str(value)


def _grades(path: Path) -> Iterator[tuple[str, str, int]]:
    for number, (where, line) in enumerate(_lines(path)):
        columns = line.split("\t") if "\t" in line else line.split()
        try:
            grade = int(float(columns[-1]))
            question, document = columns[0].strip(), columns[-2].strip()
        except (ValueError, IndexError, OverflowError) as error:
            if number == 0:
                continue
            raise UserError(f"{where}: expected question, document and grade, parted by tabs.") from error
        if len(columns) not in (3, 4):
            raise UserError(f"{where}: expected question, document and grade, parted by tabs.")
        yield question, document, grade
