"""The parsing worker: it never sees a byte of a file itself, but forks a process for each, which reads that one in a sandbox.

So the libraries are imported once, and what one file did to the process that read it ends with that process: the next file, of
other people perhaps, cannot be seen or changed by it.

Started by `rag_engine.worker_process` as `python -m rag_engine.worker`. Requests come on its standard input; replies leave by what
was its standard output when it began. Both are frames of a length in four bytes, big-endian, and that many bytes of JSON.
Whatever a library prints goes nowhere. It ends when its input ends, so it cannot outlive its parent.

first    {"ready": process id, "landlock": version, "seccomp": whether there is} from the worker, once
request  {"token", "path", "name", "seconds", "memory", "recognition": seconds, "languages": [...]}; for the picture of a page of a
         PDF also {"page": from 1, "quotes": [...]}
replies  {"begin": token} from the worker; all others from the process that reads the file:
         {"sections": [{"text", "anchor", "headings": one a line, "kind"}, ...]} any number of times, or once
         {"recognising": whether} when text recognition of a page begins or ends, whose time counts apart
         {"picture": PNG in base64, "marked": quotes found}; then one of
         {"done": true} or {"error": class name, "message": sentence, "cause": traceback for the log}

When the process that reads a file ends in any other way than by its last reply, the worker ends too, with 128 and the number of the
signal as its status. A token comes before every file, so that nothing a file's process left behind passes for the next file.
"""

from __future__ import annotations

import gc
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NoReturn, cast

from rag_engine import plugins, reading, sandbox
from rag_engine.media_types import FAMILY, parser_of_name
from rag_engine.sandbox import kernel, limits, policy

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import BufferedReader

FOLDER: Final = "footnote-worker-"
"""How the names of workers' folders begin."""
_NICENESS: Final = 10
"""People who wait for an answer come first; with a processor to itself a file is read as fast as ever."""
_FIRST_TO_GO: Final = 500
"""Added to our share of the memory, in thousandths, when the system looks for a process to end: the bot must not be it."""
NOT_HELD: Final = 18
"""The status of a worker whose process for a file could not be held in: it has read nothing."""
_ANSWERED: Final = 17
"""The status of a process that has said its last reply; 0 is what a library may leave with in the middle."""


_ANOTHER: Final = 32
"""With the place of a parser among all, the status of a process whose file is for that one and not for the one its name promises,
and that one starts programs."""


def main() -> None:
    """Serve requests until the input ends."""
    incoming, replies = _private_streams()
    _step_back()
    protection = sandbox.kept()
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
                answer = partial(_answer, request, replies, allowed, protection, needed)
                return _in_a_process(answer, incoming)

        status = read_as(parser_of_name(cast("str", request["name"])))
        if another := _parser_of_status(status):
            status = read_as(another)
        if status != _ANSWERED:
            _leave(status)
    _leave(0)


def _answer(
    request: dict[str, object],
    replies: BinaryIO,
    allowed: sandbox.Policy,
    protection: sandbox.Protection,
    programs: frozenset[str],
) -> int:
    """Read the file in a sandbox, or not at all; the status to end with. What libraries keep between calls goes into the folder too."""
    os.chdir(allowed.folder)
    os.environ.update(dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), str(allowed.folder)))
    tempfile.tempdir = None
    most_memory = _memory_meter()
    limits.limit(
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
        for reply in reading.replies(request, say, most_memory=most_memory, programs=programs):
            say(reply)
    except reading.AnotherParser as other:
        return _ANOTHER + plugins.available(FAMILY).index(other.name)
    return _ANSWERED


def _prepare(request: dict[str, object], parser: str) -> frozenset[str]:
    """Import what the file promises to need, for this file and all that follow; the programs its parser may start.

    A parser that needs a program names it in `PROGRAMS`. What it is by its content, and not by its name, decides which parser
    reads a file, but only in the sandbox: there another parser is imported anew. Where that one starts programs, nothing is read
    but in another process, whose sandbox lets it.
    """
    try:
        module = (
            plugins.load("rag_engine", "page_pictures") if "page" in request else plugins.load(FAMILY, parser)
        )
    except Exception:  # noqa: BLE001 - whoever reads the file meets it again, and says so
        return frozenset()
    return frozenset(getattr(module, "PROGRAMS", ()))


def _parser_of_status(status: int) -> str:
    """The parser that a process asked for by ending so; empty when it did not."""
    names = plugins.available(FAMILY)
    place = status - _ANOTHER
    return names[place] if 0 <= place < len(names) and status < 128 else ""


def _in_a_process(answer: Callable[[], int], incoming: BufferedReader) -> int:
    """Run `answer` in a process of its own; its status, or 128 and the number of the signal that ended it."""
    if not hasattr(os, "fork"):
        # One file to a worker, then: the parent starts another.
        threading.Thread(target=_end_with, args=(incoming,), daemon=True).start()
        answer()
        return 0
    gc.freeze()
    parent = os.getpid()
    ended, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(incoming.fileno())
        os.close(ended)
        _run(answer, parent)
    os.close(held)
    _wait(ended, incoming, child)
    os.close(ended)
    _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _run(answer: Callable[[], int], parent: int) -> NoReturn:
    status = 1
    try:
        if sys.platform == "linux":
            kernel.end_with_parent(signal.SIGKILL)
        if os.getppid() == parent:
            status = answer()
    finally:
        os._exit(status)


def _wait(ended: int, incoming: BufferedReader, child: int) -> None:
    """Until the child has ended, which closes its end of a pipe; it is ended when our own input ends."""
    watched = [ended, incoming.fileno()]
    while ended not in (ready := select.select(watched, (), ())[0]):
        # A parent that has read the last reply may have sent the next request already.
        watched = [ended]
        if ready and not incoming.peek(1):
            os.kill(child, signal.SIGKILL)


def _end_with(incoming: BufferedReader) -> None:
    if not incoming.read(1):
        _leave(0)


def _step_back() -> None:
    """Let those go first who are waited for, and be the first to go when memory runs out."""
    with suppress(OSError, AttributeError):
        if sys.platform != "linux" or sandbox.survived(partial(os.nice, _NICENESS)):
            os.nice(_NICENESS)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(_FIRST_TO_GO), encoding="ascii")


def _memory_meter() -> Callable[[], int]:
    """Tells the most address space held so far, in bytes; 0 where the system does not say. Made before the sandbox is entered."""
    try:
        status = Path("/proc/self/status").open(encoding="ascii", errors="replace")  # noqa: SIM115 - for the life of the process
    except OSError:
        return lambda: 0

    def most_memory() -> int:
        status.seek(0)
        return int(status.read().partition("VmPeak:")[2].split()[0]) << 10

    return most_memory


def _private_streams() -> tuple[BufferedReader, BinaryIO]:
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


def _leave(status: int) -> NoReturn:
    """End, and remove the worker's own folder: nobody else will when the parent was killed."""
    folder = Path.cwd()
    if folder.name.startswith(FOLDER):
        os.chdir(folder.parent)
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(status)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        _leave(1)  # the parent was killed before it heard of us
