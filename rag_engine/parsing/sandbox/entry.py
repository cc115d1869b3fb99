from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_engine.parsing.sandbox import landlock, privileges, seccomp, system_calls
from rag_engine.parsing.sandbox.policy import Policy, Protection

if TYPE_CHECKING:
    from collections.abc import Callable

_NOTHING: Final = Policy(file=Path(os.devnull), folder=Path(os.devnull), libraries=())
_TEMPORARY: Final = frozenset({errno.ENOMEM, errno.EAGAIN, errno.ENFILE, errno.EMFILE})
_UNDECIDED: Final = 255


def offered() -> Protection:
    if sys.platform != "linux":
        return Protection()
    return Protection(landlock=landlock.version(), seccomp=seccomp.offered() is not None)


def enforced() -> Protection:
    """What the kernel really enforces, tried in child processes. Raises `OSError` if this cannot be determined."""
    if sys.platform != "linux":
        return Protection()
    return Protection(landlock=_tried(_by_landlock), seccomp=bool(_tried(_by_seccomp)))


def survived(call: Callable[[], object]) -> bool:
    """A container may answer the call by a kill."""

    def trial() -> int:
        call()
        return 1

    return bool(_tried(trial))


def _by_landlock() -> int:
    if version := landlock.version():
        enter(_NOTHING, Protection(landlock=version))
    return version


def _by_seccomp() -> int:
    if available := seccomp.offered() is not None:
        enter(_NOTHING, Protection(seccomp=True))
    return int(available)


def _tried(trial: Callable[[], int]) -> int:
    child = os.fork()
    if child == 0:
        result = _UNDECIDED
        try:
            result = trial()
        except OSError as error:
            result = _UNDECIDED if error.errno in _TEMPORARY else 0
        finally:
            os._exit(result)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSYS:
        return 0
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) == _UNDECIDED:
        raise OSError(errno.EAGAIN, "the sandbox cannot be tried now")
    return os.WEXITSTATUS(status)


def enter(policy: Policy, protection: Protection) -> None:
    """Irreversible; for a single-threaded process.

    Raises `OSError` if the kernel does not enforce what it offered.
    """
    if protection.landlock or protection.seccomp:
        system_calls.gain_nothing()
    if protection.landlock:
        landlock.restrict(
            version=protection.landlock,
            reads=policy.readable,
            writes=policy.writable,
            programs=policy.executable,
        )
    architecture = seccomp.offered() if protection.seccomp else None
    if architecture is not None:
        privileges.give_up(get=architecture.checked["capget"], put=architecture.checked["capset"])
        seccomp.restrict(architecture, process=os.getpid(), programs=bool(policy.programs))
