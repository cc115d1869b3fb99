from __future__ import annotations

import math
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import resource

_LARGEST_OUTPUT: Final = 64 << 20
_MOST_OPEN_FILES: Final = 256
_REPLY_SHARE: Final = 32
"""1/n of the memory, to report that the rest ran out."""
_LIBRARIES: Final = 1 << 30
"""Address space beside the memory, for libraries and programs."""


def limit(*, seconds: float, memory: int, more_seconds: float = 0) -> None:
    """`seconds` of processor time from now, `memory` bytes more than the process has.

    `give_back` adds up to `more_seconds`; `last_words` frees a reserve. macOS has neither.
    """
    if sys.platform == "win32":
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    processor = math.ceil(used.ru_utime + used.ru_stime + seconds) + 1
    space = memory + _LIBRARIES
    limits = [
        (resource.RLIMIT_AS, space, space),
        (resource.RLIMIT_DATA, _data_bytes() + memory - memory // _REPLY_SHARE, space),
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
    """Rounded up, within `more_seconds`."""
    if sys.platform == "win32":
        return
    with suppress(ValueError, OSError):
        counted, most = resource.getrlimit(resource.RLIMIT_CPU)
        if counted != resource.RLIM_INFINITY:
            raised = counted + math.ceil(seconds)
            resource.setrlimit(
                resource.RLIMIT_CPU, (raised if most == resource.RLIM_INFINITY else min(raised, most), most)
            )


def for_a_program() -> None:
    """Call it in the program's process."""
    _lift_memory()


def last_words() -> None:
    _lift_memory()


def _lift_memory() -> None:
    if sys.platform == "win32":
        return
    with suppress(ValueError, OSError):
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _data_bytes() -> int:
    with suppress(OSError, IndexError, ValueError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("VmData:")[2].split()[0]) << 10
    return 0
