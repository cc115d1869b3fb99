"""A file's process cannot forge replies to another file's request."""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import BufferedReader

LARGEST_FRAME: Final = 16 << 20
_LAST: Final = (b'{"done"', b'{"error"')
_POLL_SECONDS: Final = 0.1
_END_SECONDS: Final = 0.002
"""A process closes its pipe just before it ends."""
_KILL_SECONDS: Final = 2.0


def relayed(readable: int, replies: BinaryIO, *, child: int, incoming: BufferedReader) -> tuple[bytes, int]:
    """Yields complete frames until `child` ends; returns the last reply and the status. The end of `incoming`, or too
    long a frame, kills the child.
    """
    frames = _Frames(replies)
    ended = _ended(child)
    watched = [readable, incoming.fileno()]
    open_ = True
    while open_ or ended() is None:
        # A process left behind may hold the pipe: its end proves nothing.
        ready, _, _ = select.select(watched, (), (), _POLL_SECONDS if open_ else _END_SECONDS)
        if incoming.fileno() in ready:
            watched.remove(incoming.fileno())
            if not incoming.peek(1):
                os.kill(child, signal.SIGKILL)
        if readable in ready:
            content = os.read(readable, 1 << 16)
            if not content:
                watched.remove(readable)
                open_ = False
            elif not frames.add(content):
                os.kill(child, signal.SIGKILL)
                open_ = False
        elif ended() is not None:
            open_ = False
    while (status := ended()) is None:
        time.sleep(_END_SECONDS)
    return frames.last, status


def nobody_left() -> bool:
    if not _children():
        return True
    deadline = time.monotonic() + _KILL_SECONDS
    while (children := _children()) and time.monotonic() < deadline:
        for process in children:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.001)
    return False


def _children() -> list[int]:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    with suppress(OSError):
        own = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
        return [int(process) for process in own.split()]
    return []


def _ended(child: int) -> Callable[[], int | None]:
    status: int | None = None

    def ended() -> int | None:
        nonlocal status
        if status is None:
            process, found = os.waitpid(child, os.WNOHANG)
            status = found if process else None
        return status

    return ended


class _Frames:
    def __init__(self, replies: BinaryIO) -> None:
        self._replies = replies
        self._content = bytearray()
        self.last = b""

    def add(self, content: bytes) -> bool:
        self._content += content
        while len(self._content) >= 4 and not self.last:
            length = int.from_bytes(self._content[:4], "big")
            if length > LARGEST_FRAME:
                return False
            if len(self._content) < length + 4:
                break
            frame = bytes(self._content[: length + 4])
            del self._content[: length + 4]
            if frame.startswith(_LAST, 4):
                self.last = frame
            else:
                self._replies.write(frame)
                self._replies.flush()
        if self.last:
            self._content.clear()
        return True
