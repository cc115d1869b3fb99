"""Python's own hooks, where the kernel has none: what Python code does about files, the network and processes is refused here.

Code that is not Python's is not seen. It is what there is on macOS, Windows and old kernels, and no more than that.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag_engine.sandbox.policy import Policy

# Beginnings of the names of events. `ctypes` would be a way round all of this.
_REFUSED: Final = (
    "socket.",
    "ctypes.",
    "winreg.",
    "os.kill",
    "os.chmod",
    "os.chown",
    "os.chflags",
    "os.utime",
    "os.lockf",
)
_REFUSED_EXACTLY: Final = frozenset({"os.setxattr", "os.removexattr", "signal.pthread_kill"})
_STARTING: Final = (
    "subprocess.",
    "os.system",
    "os.exec",
    "os.spawn",
    "os.posix_spawn",
    "os.startfile",
    "os.fork",
    "pty.",
)
_LISTED: Final = frozenset({"os.listdir", "os.scandir"})
_CHANGED: Final = frozenset(
    {"os.remove", "os.rmdir", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.truncate", "os.mkfifo"}
)
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def restrict(policy: Policy) -> None:
    """Refuse by `PermissionError`, for as long as this process lives, what the policy does not allow."""
    sys.addaudithook(_hook(policy))


def _hook(policy: Policy) -> Callable[[str, tuple[object, ...]], None]:
    writable = tuple(os.path.realpath(path) for path in policy.writable)
    readable = (*writable, *(os.path.realpath(path) for path in policy.readable))
    beginnings = _REFUSED if policy.programs else (*_REFUSED, *_STARTING)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            writes = isinstance(flags, int) and bool(flags & _WRITING)
            _check(path, writable if writes else readable)
        elif event in _LISTED:
            _check("." if arguments[0] is None else arguments[0], readable)
        elif event in _CHANGED:
            for path in arguments[:2]:
                _check(path, writable)
        elif event in _REFUSED_EXACTLY or event.startswith(beginnings):
            raise PermissionError(f"{event} is not allowed to what reads files")

    return hook


def _check(path: object, allowed: tuple[str, ...]) -> None:
    """Raise for a path outside of what is allowed; descriptors were opened by their paths before."""
    if not isinstance(path, str | bytes | os.PathLike):
        return
    real = os.path.realpath(os.fsdecode(cast("str", path)))
    if not any(real == root or real.startswith(root + os.sep) for root in allowed):
        raise PermissionError("this path is not among what may be used here")
