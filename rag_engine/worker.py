"""The parsing worker: a process of its own that reads files nobody trusts, one after the other.

Started by `rag_engine.parsing` as `python -m rag_engine.worker`. It reads requests from its standard input and writes
replies to what was its standard output when it began; both are frames of a length in four bytes, big-endian, and that
many bytes of JSON. Whatever a library prints goes nowhere. It ends when its input ends, so it cannot outlive its parent.

first    {"ready": process id} from the worker, once
request  {"path", "name", "seconds", "memory"}; for the picture of a page of a PDF also {"page": from 1, "quotes": [...]}
replies  {"sections": [{"text", "anchor", "headings": one a line, "kind"}, ...]} any number of times, or once
         {"picture": PNG in base64, "marked": quotes found}; then one of
         {"done": resident bytes} or {"error": class name, "message": sentence, "cause": traceback for the log, "resident": bytes}
"""

from __future__ import annotations

import base64
import json
import math
import os
import queue
import shutil
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from rag_engine import plugins
from rag_engine.errors import CorruptFile, FileTooLarge, MissingExtra, UnsupportedFile, UserError
from rag_engine.media_types import FAMILY, parser_name, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rag_engine.ports import Parser
    from rag_engine.types import Section

_BATCH_CHARACTERS: Final = 32_000
_BATCH_SECTIONS: Final = 256
_LARGEST_OUTPUT: Final = 64 << 20
_MOST_OPEN_FILES: Final = 256
_REPLY_ROOM: Final = 64 << 20
"""Address space kept free for saying that the rest ran out."""


def main() -> None:
    """Serve requests until the input ends."""
    incoming, replies = _private_streams()
    requests: queue.SimpleQueue[dict[str, object]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, requests), name="requests", daemon=True).start()
    _write(replies, {"ready": os.getpid()})
    while True:
        for reply in _answer(requests.get()):
            _write(replies, reply)


def _listen(incoming: BinaryIO, requests: queue.SimpleQueue[dict[str, object]]) -> None:
    """Hand requests on, and end the whole process with the input: also in the middle of a file that never ends."""
    while (request := _read(incoming)) is not None:
        requests.put(request)
    _leave_folder()
    os._exit(0)


def _answer(request: dict[str, object]) -> Iterator[dict[str, object]]:
    path, name = Path(cast("str", request["path"])), cast("str", request["name"])
    memory = cast("int", request["memory"])
    _limit(seconds=cast("float", request["seconds"]), memory=memory)
    most_before = _most_memory()
    try:
        if "page" in request:
            yield _picture(request, path)
        else:
            parser = cast("Parser", plugins.load(FAMILY, parser_name(path, name)).parse)
            for batch in _batches(parser(path)):
                yield {"sections": batch}
    except Exception as error:  # noqa: BLE001 - a parser's bug or a library's on a hostile file must cost this file only
        exhausted = _most_memory() > max(memory * 0.9, most_before)
        yield _failure(error, name, memory=memory, exhausted=exhausted)
    else:
        yield {"done": _resident()}


def _picture(request: dict[str, object], path: Path) -> dict[str, object]:
    draw = plugins.load("rag_engine", "page_pictures").draw
    content, marked = draw(path, cast("int", request["page"]), cast("list[str]", request["quotes"]))
    return {"picture": base64.b64encode(content).decode("ascii"), "marked": marked}


def _failure(error: Exception, name: str, *, memory: int, exhausted: bool) -> dict[str, object]:
    """What to say about a file: libraries that run out of memory call it damaged or worse."""
    kind: type[UserError] = CorruptFile
    cause = ""
    match error:
        case MissingExtra():
            kind, message = UnsupportedFile, f"{shown(name)} cannot be read here: {error}."
        case CorruptFile() if not exhausted:
            message = str(error)
        case UserError() if not isinstance(error, CorruptFile):
            kind, message = type(error), str(error)
        case _ if exhausted or isinstance(error, MemoryError | RecursionError):
            kind = FileTooLarge
            message = f"{shown(name)} needs more than {memory >> 20} MB of memory to read; split it into smaller files."
        case _:
            message = (
                f"{shown(name)} could not be read; it may be damaged. Save it again and add it once more."
            )
            cause = "".join(traceback.format_exception(error, limit=-8))
    return {"error": kind.__name__, "message": message, "cause": cause, "resident": _resident()}


def _batches(sections: Iterable[Section]) -> Iterator[list[dict[str, str]]]:
    """Sections as JSON, small enough a batch that the parent sees progress and memory stays flat."""
    batch: list[dict[str, str]] = []
    size = 0
    for section in sections:
        headings = "\n".join(" ".join(heading.split()) for heading in section.headings)
        batch.append(
            {"text": section.text, "anchor": section.anchor, "headings": headings, "kind": section.kind}
        )
        size += len(section.text) + len(section.anchor) + len(headings)
        if size >= _BATCH_CHARACTERS or len(batch) >= _BATCH_SECTIONS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """The protocol on descriptors nobody else knows; the standard ones lead nowhere from now on."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    return requests, replies


def _read(requests: BinaryIO) -> dict[str, object] | None:
    length = requests.read(4)
    if len(length) < 4:
        return None
    return cast("dict[str, object]", json.loads(requests.read(int.from_bytes(length, "big"))))


def _write(replies: BinaryIO, reply: dict[str, object]) -> None:
    content = json.dumps(reply).encode("ascii")
    replies.write(len(content).to_bytes(4, "big") + content)
    replies.flush()


def _leave_folder() -> None:
    """Remove the worker's own folder: nobody else will when the parent was killed."""
    folder = Path.cwd()
    if folder.name.startswith("footnote-worker-"):
        os.chdir(folder.parent)
        shutil.rmtree(folder, ignore_errors=True)


def _limit(*, seconds: float, memory: int) -> None:
    """What the operating system can hold us to: processor time and memory for this file, no large output, few files."""
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    processor = math.ceil(used.ru_utime + used.ru_stime + seconds) + 1
    for kind, limit in (
        (resource.RLIMIT_AS, memory + _REPLY_ROOM),
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_FSIZE, _LARGEST_OUTPUT),
        (resource.RLIMIT_NOFILE, _MOST_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        try:
            resource.setrlimit(kind, (soft, hard))
        except (ValueError, OSError):
            # macOS refuses some of these; the parent's clock still holds.
            continue


def _most_memory() -> int:
    """The most memory held so far, in bytes: address space where the system says, else resident; 0 where it does not."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmPeak:")[2].split()[0]) << 10
    except (OSError, ValueError, IndexError):
        return _most_resident()


def _most_resident() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _resident() -> int:
    """Resident memory now, in bytes; the peak where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError):
        return _most_resident()
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
