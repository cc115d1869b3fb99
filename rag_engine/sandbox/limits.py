"""What the operating system counts for a process: its processor time, memory, output and open files."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from typing import Final

if sys.platform != "win32":
    import resource

_LARGEST_OUTPUT: Final = 64 << 20
_MOST_OPEN_FILES: Final = 256
_REPLY_SHARE: Final = 32
"""One part in so many of the address space is kept free for saying that the rest ran out."""


def limit(*, seconds: float, memory: int, more_seconds: float = 0) -> None:
    """Hold this process to `seconds` of processor time from now on and `memory` bytes of address space, for ever.

    Of processor time `more_seconds` may come with `give_back`. A little of the memory comes with `last_words`. What a system does not know or refuses is left out (macOS has no limit of
    address space): the parent's clock still holds.
    """
    if sys.platform == "win32":
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    processor = math.ceil(used.ru_utime + used.ru_stime + seconds) + 1
    limits = [
        (resource.RLIMIT_AS, memory - memory // _REPLY_SHARE, memory),
        (resource.RLIMIT_CPU, processor, processor + math.ceil(more_seconds)),
        (resource.RLIMIT_FSIZE, _LARGEST_OUTPUT, _LARGEST_OUTPUT),
        (resource.RLIMIT_NOFILE, _MOST_OPEN_FILES, _MOST_OPEN_FILES),
        (resource.RLIMIT_CORE, 0, 0),
    ]
    for kind, soft, hard in limits:
        with suppress(ValueError, OSError):
            _, most = resource.getrlimit(kind)
            ceiling = hard if most == resource.RLIM_INFINITY else min(hard, most)
            resource.setrlimit(kind, (min(soft, ceiling), ceiling))


def give_back(seconds: float) -> None:
    """Let processor time that was spent not count against this process, rounded up to seconds and as far as it was allowed more."""
    if sys.platform == "win32":
        return
    with suppress(ValueError, OSError):
        counted, most = resource.getrlimit(resource.RLIMIT_CPU)
        if counted != resource.RLIM_INFINITY:
            raised = counted + math.ceil(seconds)
            resource.setrlimit(
                resource.RLIMIT_CPU, (raised if most == resource.RLIM_INFINITY else min(raised, most), most)
            )


def last_words() -> None:
    """Give this process the memory that was kept for saying that the rest ran out."""
    if sys.platform == "win32":
        return
    with suppress(ValueError, OSError):
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
