from __future__ import annotations

import asyncio
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.web.visit import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.web.visit import Visit

TITLE: Final = "Health"
PATH: Final = "health"
POSITION: Final = 90


async def show(visit: Visit) -> Shown:
    application = visit.parts.application
    is_operator = visit.reader.is_operator
    # The platforms of others are none of an administrator's business.
    checks = {
        name: check
        for name, check in visit.health.checks.items()
        if is_operator or name not in _platforms(visit)
    }
    data_dir = application.settings.data_dir
    values = {
        "ready": all(check.ready for check in checks.values()),
        "checks": checks,
        "silent": visit.health.silent_seconds,
        "facts": {
            "Version": f"{version('footnote-bot')} on Python {platform.python_version()}",
            "Index": application.settings.index.kind,
            "Embedding model": application.library.identity.model,
            "Language models": ", ".join(model.name for model in application.engine.models)
            or "none: answers quote",
        },
        "files": await asyncio.to_thread(sizes, data_dir) if is_operator else [],
    }
    return Shown(template="health.html", values=values)


def _platforms(visit: Visit) -> set[str]:
    return set(visit.parts.application.settings.platforms) - {visit.visitor.platform}


def sizes(folder: Path) -> list[tuple[str, int]]:
    found = ((each.name, _size(each) or sum(map(_size, _files(each)))) for each in folder.iterdir())
    return sorted((each for each in found if each[1]), key=lambda each: -each[1])[:12]


def _files(folder: Path) -> Iterator[Path]:
    return (Path(parent) / name for parent, _, names in os.walk(folder) for name in names)


def _size(path: Path) -> int:
    """None of what is gone meanwhile."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0
