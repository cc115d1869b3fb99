from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

from rag_engine import plugins
from rag_engine.errors import CorruptFile, FileTooLarge, MissingExtra, UnsupportedFile, UserError
from rag_engine.parsers._ocr.limits import RecognitionLimits, limits
from rag_engine.parsing import safe_tracebacks
from rag_engine.parsing.formats import FAMILY
from rag_engine.parsing.media_types import parser_name, shown
from rag_engine.parsing.sandbox import resource_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rag_engine.types import Section

_BATCH_CHARACTERS: Final = 32_000
_BATCH_SECTIONS: Final = 256
_ERRORS: Final = UserError.__module__


class AnotherParser(Exception):
    """The file needs parser `name`, which starts programs."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _Module(Protocol):
    def parse(self, path: Path) -> Iterator[Section]: ...


def replies(
    request: dict[str, object],
    say: Callable[[dict[str, object]], None],
    *,
    most_memory: Callable[[], int],
    programs: frozenset[str],
) -> Iterator[dict[str, object]]:
    """The last is success or an error. `say` sends urgent replies, `most_memory` is the peak in bytes. Raises `AnotherParser`."""
    path, name = Path(cast("str", request["path"])), cast("str", request["name"])
    memory = cast("int", request["memory"])
    most_before = most_memory()
    try:
        if "page" in request:
            yield _picture(request, path)
        elif "beside" in request:
            yield _figure(request, path, name)
        else:
            parser = _parser(path, name, programs)
            limits.set(_limits(request, say))
            for batch in _batches(parser.parse(path)):
                yield {"sections": batch}
            if stated := _properties(parser, path):
                yield {"sections": [stated]}
    except AnotherParser:
        raise
    except Exception as error:  # noqa: BLE001 - a parser's bug or a library's on a hostile file must cost this file only
        resource_limits.last_words()
        exhausted = most_memory() > max(memory * 0.9, most_before)
        yield _failure(error, name, memory=memory, exhausted=exhausted)
    else:
        yield {"done": True}


def _parser(path: Path, name: str, programs: frozenset[str]) -> _Module:
    parser = parser_name(path, name)
    module = plugins.load(FAMILY, parser)
    if hasattr(os, "fork") and not programs.issuperset(getattr(module, "PROGRAMS", ())):
        raise AnotherParser(parser)
    return cast("_Module", module)


def _properties(parser: object, path: Path) -> dict[str, str]:
    read = cast("Callable[[Path], dict[str, list[str]]] | None", getattr(parser, "properties", None))
    try:
        found = read(path) if read is not None else {}
        text = json.dumps({str(key): list(map(str, values)) for key, values in found.items()})
    except Exception:  # noqa: BLE001 - a library's bug on a hostile file
        return {}
    if not found or len(text) > _BATCH_CHARACTERS:
        return {}
    return {"text": text, "anchor": "", "headings": "", "kind": "properties"}


def _limits(request: dict[str, object], say: Callable[[dict[str, object]], None]) -> RecognitionLimits:
    def report(*, is_running: bool) -> None:
        say({"recognising": is_running})

    return RecognitionLimits(
        languages=tuple(cast("list[str]", request.get("languages", []))),
        seconds=cast("float", request.get("recognition", 0)),
        page_seconds=cast("float", request["seconds"]),
        on_page=report,
    )


def _picture(request: dict[str, object], path: Path) -> dict[str, object]:
    draw = plugins.load("rag_engine.parsing", "page_images").draw
    page, quotes = cast("int", request["page"]), cast("list[str]", request["quotes"])
    content, marked = draw(path, page, quotes, figure=bool(request.get("figure")))
    return {"picture": base64.b64encode(content).decode("ascii"), "marked": marked}


def _figure(request: dict[str, object], path: Path, name: str) -> dict[str, object]:
    draw = plugins.load("rag_engine.parsing", "document_figures").draw
    content = draw(path, name, cast("str", request["beside"]), cast("list[str]", request["quotes"]))
    return {"picture": base64.b64encode(content or b"").decode("ascii")}


def _failure(error: Exception, name: str, *, memory: int, exhausted: bool) -> dict[str, object]:
    """Libraries that run out of memory call the file damaged."""
    kind: type[UserError] = CorruptFile
    cause = ""
    match error:
        case MissingExtra():
            kind, message = UnsupportedFile, f"{shown(name)} cannot be read here: {error}."
        case CorruptFile() if not exhausted:
            message = str(error)
        case UserError() if not isinstance(error, CorruptFile):
            kind, message = (
                next(base for base in type(error).__mro__ if base.__module__ == _ERRORS),
                str(error),
            )
        case _ if exhausted or isinstance(error, MemoryError | RecursionError):
            kind = FileTooLarge
            message = f"{shown(name)} needs more than {memory >> 20} MB of memory to read; split it into smaller files."
        case _:
            message = (
                f"{shown(name)} could not be read; it may be damaged. Save it again and add it once more."
            )
            cause = safe_tracebacks.formatted(error, frames=-8)
    return {"error": kind.__name__, "message": message, "cause": cause}


def _batches(sections: Iterable[Section]) -> Iterator[list[dict[str, object]]]:
    batch: list[dict[str, object]] = []
    size = 0
    for section in sections:
        headings = "\n".join(" ".join(heading.split()) for heading in section.headings)
        one: dict[str, object] = {"text": section.text, "anchor": section.anchor}
        one |= {"headings": headings, "kind": section.kind}
        if section.grid is not None:
            grid = section.grid
            one["grid"] = [grid.number, grid.names, grid.first_column, grid.rows]
        batch.append(one)
        size += len(section.text) + len(section.anchor) + len(headings)
        if size >= _BATCH_CHARACTERS or len(batch) >= _BATCH_SECTIONS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
