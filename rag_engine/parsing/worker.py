"""Forks a sandboxed process for each file and never reads one itself.

A file that takes over its process cannot affect the next. The worker ends with its input. Requests on standard input and
replies on standard output are frames: a length in four bytes, big-endian, then JSON. Libraries' output is discarded.

first    {"ready": process id, "landlock": version, "seccomp": whether there is} from the worker, once
request  {"token", "path", "name", "seconds", "memory", "recognition": seconds, "languages": [...]}; for a picture of a PDF page
         also {"page": from 1, "quotes": [...], "figure": bool}, of an embedded picture {"beside": anchor, "quotes": [...]}
replies  {"begin": token} from the worker; all others from the file's process, by its own pipe:
         {"sections": [{"text", "anchor", "headings": one a line, "kind", "grid": [number, names, first column, rows]}, ...]},
         `grid` with tables only, any number of times, or once {"picture": PNG in base64, or empty, "marked": quotes found};
         {"recognising": whether} when text recognition of a page begins or ends, whose time counts apart;
         last {"done": true} or {"error": class name, "message": sentence, "cause": traceback for the log}

{"unclean": true} before the last reply: the file's process left others behind, so the parent ends this worker.
Without a last reply the worker exits with 128 plus the signal. The token separates the output of one file from the next.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NoReturn, cast

from rag_engine import plugins
from rag_engine.parsing import relay, requests, sandbox
from rag_engine.parsing.formats import FAMILY
from rag_engine.parsing.media_types import parser_of_name
from rag_engine.parsing.sandbox import policy, resource_limits, system_calls

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import BufferedReader

FOLDER: Final = "footnote-worker-"
_NICENESS: Final = 10
_FIRST_TO_GO: Final = 500
"""In thousandths: the kernel should kill a parser, not the bot."""
NOT_HELD: Final = 18
"""Exit status: the sandbox failed and nothing was read."""
_DRAWN_BY: Final = {"page": "page_images", "beside": "document_figures"}
_ANSWERED: Final = 17
"""Exit status after the last reply; libraries may exit with 0 earlier."""


_ANOTHER: Final = 32
"""Plus a parser's index: the file needs that parser, which starts programs."""


def main() -> None:
    incoming, replies = _private_streams()
    _step_back()
    protection = sandbox.enforced()
    with suppress(OSError, AttributeError):
        system_calls.adopt_orphans()
    _write(replies, {"ready": os.getpid(), "landlock": protection.landlock, "seccomp": protection.seccomp})
    libraries = policy.libraries()
    while (request := _read(incoming)) is not None:
        _write(replies, {"begin": request["token"]})

        def read_as(parser: str, request: dict[str, object] = request) -> int:
            needed = _prepare(request, parser)
            with tempfile.TemporaryDirectory(dir=Path.cwd(), ignore_cleanup_errors=True) as folder:
                allowed = sandbox.Policy(
                    file=Path(cast("str", request["path"])),
                    folder=Path(folder),
                    libraries=libraries,
                    programs=tuple(path for program in needed if (path := policy.program(program))),
                )
                answer = partial(_answer, request, allowed, protection, needed)
                return _in_a_process(answer, incoming, replies)

        status = read_as(parser_of_name(cast("str", request["name"])))
        if another := _parser_of_status(status):
            status = read_as(another)
        if status != _ANSWERED:
            _leave(status)
    _leave(0)


def _answer(
    request: dict[str, object],
    allowed: sandbox.Policy,
    protection: sandbox.Protection,
    programs: frozenset[str],
    replies: BinaryIO,
) -> int:
    os.chdir(allowed.folder)
    os.environ.update(dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), str(allowed.folder)))
    tempfile.tempdir = None
    most_memory = _memory_meter()
    resource_limits.limit(
        seconds=cast("float", request["seconds"]),
        memory=cast("int", request["memory"]),
        more_seconds=cast("float", request.get("recognition", 0)),
    )
    try:
        sandbox.enter(allowed, protection)
    except OSError:
        os._exit(NOT_HELD)
    say = partial(_write, replies)
    try:
        for reply in requests.replies(request, say, most_memory=most_memory, programs=programs):
            say(reply)
    except requests.AnotherParser as other:
        return _ANOTHER + plugins.available(FAMILY).index(other.name)
    return _ANSWERED


def _prepare(request: dict[str, object], parser: str) -> frozenset[str]:
    try:
        drawing = next((_DRAWN_BY[key] for key in _DRAWN_BY if key in request), None)
        module = plugins.load("rag_engine.parsing", drawing) if drawing else plugins.load(FAMILY, parser)
    except Exception:  # noqa: BLE001 - reading the file raises it again
        return frozenset()
    return frozenset(getattr(module, "PROGRAMS", ()))


def _parser_of_status(status: int) -> str:
    names = plugins.available(FAMILY)
    place = status - _ANOTHER
    return names[place] if 0 <= place < len(names) and status < 128 else ""


def _in_a_process(answer: Callable[[BinaryIO], int], incoming: BufferedReader, replies: BinaryIO) -> int:
    if not hasattr(os, "fork"):
        # Without fork a worker reads one file.
        threading.Thread(target=_end_with, args=(incoming,), daemon=True).start()
        answer(replies)
        return 0
    gc.freeze()
    parent = os.getpid()
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(incoming.fileno())
        os.close(replies.fileno())
        os.close(readable)
        _run(partial(answer, os.fdopen(writable, "wb")), parent)
    os.close(writable)
    try:
        last, status = relay.relayed(readable, replies, child=child, incoming=incoming)
    finally:
        os.close(readable)
    if not relay.nobody_left():
        _write(replies, {"unclean": True})
    replies.write(last)
    replies.flush()
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _run(answer: Callable[[], int], parent: int) -> NoReturn:
    status = 1
    try:
        if sys.platform == "linux":
            system_calls.end_with_parent(signal.SIGKILL)
        if os.getppid() == parent:
            status = answer()
    finally:
        os._exit(status)


def _end_with(incoming: BufferedReader) -> None:
    if not incoming.read(1):
        _leave(0)


def _step_back() -> None:
    with suppress(OSError, AttributeError):
        if sys.platform != "linux" or sandbox.survived(partial(os.nice, _NICENESS)):
            os.nice(_NICENESS)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(_FIRST_TO_GO), encoding="ascii")


def _memory_meter() -> Callable[[], int]:
    try:
        status = Path("/proc/self/status").open(encoding="ascii", errors="replace")  # noqa: SIM115 - for the life of the process
    except OSError:
        return lambda: 0

    def of(field: str) -> int:
        status.seek(0)
        return int(status.read().partition(f"{field}:")[2].split()[0]) << 10

    before = of("VmSize")

    def most_memory() -> int:
        return max(of("VmPeak") - before, 0)

    return most_memory


def _private_streams() -> tuple[BufferedReader, BinaryIO]:
    incoming = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    return incoming, replies


def _read(incoming: BinaryIO) -> dict[str, object] | None:
    length = incoming.read(4)
    if len(length) < 4:
        return None
    return cast("dict[str, object]", json.loads(incoming.read(int.from_bytes(length, "big"))))


def _write(replies: BinaryIO, reply: dict[str, object]) -> None:
    content = json.dumps(reply).encode("ascii")
    replies.write(len(content).to_bytes(4, "big") + content)
    replies.flush()


def _leave(status: int) -> NoReturn:
    """A killed parent cannot remove the folder."""
    folder = Path.cwd()
    if folder.name.startswith(FOLDER):
        os.chdir(folder.parent)
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(status)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        _leave(1)
