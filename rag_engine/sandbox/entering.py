"""The way into the sandbox; there is none out of it."""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_engine.sandbox import audit, kernel, landlock, privileges, seccomp
from rag_engine.sandbox.policy import Policy, Protection

if TYPE_CHECKING:
    from collections.abc import Callable

_NOTHING: Final = Policy(file=Path(os.devnull), folder=Path(os.devnull), libraries=())
_FOR_A_MOMENT: Final = frozenset({errno.ENOMEM, errno.EAGAIN, errno.ENFILE, errno.EMFILE})
_UNDECIDED: Final = 255


def offered() -> Protection:
    """What the running kernel can hold a process to."""
    if sys.platform != "linux":
        return Protection()
    return Protection(landlock=landlock.version(), seccomp=seccomp.offered() is not None)


def kept() -> Protection:
    """What of that the kernel keeps when it is tried, each in a process of its own; this one must have one thread only.

    A container or a service manager may withhold what the kernel tells of, by an error or by ending who asks for it. Raises
    `OSError` when it cannot be known now, as for want of memory: what protects must not be left out for that.
    """
    if sys.platform != "linux":
        return Protection()
    return Protection(landlock=_tried(_by_landlock), seccomp=bool(_tried(_by_seccomp)))


def survived(call: Callable[[], object]) -> bool:
    """Whether a process of its own may do this: what we run in may end whoever does. Raises as `kept` does."""

    def trial() -> int:
        call()
        return 1

    return bool(_tried(trial))


def _by_landlock() -> int:
    if version := landlock.version():
        enter(_NOTHING, Protection(landlock=version))
    return version


def _by_seccomp() -> int:
    if is_there := seccomp.offered() is not None:
        enter(_NOTHING, Protection(seccomp=True))
    return int(is_there)


def _tried(trial: Callable[[], int]) -> int:
    """What a trial told; 0 when it was refused, by an error or by its end."""
    child = os.fork()
    if child == 0:
        told = _UNDECIDED
        try:
            told = trial()
        except OSError as error:
            told = _UNDECIDED if error.errno in _FOR_A_MOMENT else 0
        finally:
            os._exit(told)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSYS:
        return 0
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) == _UNDECIDED:
        raise OSError(errno.EAGAIN, "whether a process can be held in cannot be tried now")
    return os.WEXITSTATUS(status)


def enter(policy: Policy, protection: Protection) -> None:
    """Hold this process to the policy for the rest of its life. It must have one thread only.

    Raises `OSError` when the kernel does not keep what it offered; nothing hostile must be read then.
    """
    if protection.landlock or protection.seccomp:
        kernel.gain_nothing()
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
    if not protection.complete:
        audit.restrict(policy)
