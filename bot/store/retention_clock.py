"""The wall clock, but after a jump or a long pause it advances by one day per hour: an operator can correct the clock
before everything is too old.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_engine.storage.private_files import make_file
from rag_engine.storage.sqlite.errors import translate_errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILE: Final = "retention.json"
_DAY: Final = 86_400.0
_JUMP_SECONDS: Final = 3 * _DAY
_CATCHING_UP: Final = 24.0
_FASTEST: Final = _DAY
"""Per call of `advance`."""

_log = logging.getLogger(__name__)


class _State(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    at: float


class RetentionClock:
    """`advance` it about once an hour, in a thread."""

    def __init__(
        self,
        data_dir: Path,
        *,
        newest: float = 0.0,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`newest`: the time of the newest turn, where there was no earlier run."""
        self._path = data_dir / FILE
        self._clock = clock
        self._monotonic = monotonic
        self._at = last_run(data_dir) or min(newest, clock()) or clock()
        self._advanced_at = monotonic()

    def __call__(self) -> float:
        return self._at

    def advance(self) -> float:
        """Raises `StorageUnavailable`."""
        now, monotonic = self._clock(), self._monotonic()
        ran = monotonic - self._advanced_at
        ahead = now - self._at - ran
        if ahead <= _JUMP_SECONDS:
            self._at = now
        else:
            self._at += min(ran * _CATCHING_UP, _FASTEST)
            _log.warning(
                "the clock is %.1f days ahead of the last run; so that a wrong clock deletes nothing, retention advances by one "
                "day an hour: correct the clock if it is wrong",
                ahead / _DAY,
            )
        self._advanced_at = monotonic
        self._store()
        return self._at

    def _store(self) -> None:
        unfinished = self._path.with_name(f"{FILE}.part")
        with translate_errors(self._path):
            unfinished.unlink(missing_ok=True)
            make_file(unfinished)
            unfinished.write_text(_State(at=self._at).model_dump_json(), encoding="utf-8")
            unfinished.replace(self._path)


def last_run(data_dir: Path) -> float:
    """Seconds since the epoch; 0 if unknown."""
    try:
        return _State.model_validate_json((data_dir / FILE).read_bytes()).at
    except (OSError, ValidationError):
        return 0.0


def days_ahead(data_dir: Path, clock: Callable[[], float] = time.time) -> float:
    """If suspiciously many, else 0."""
    at = last_run(data_dir)
    ahead = clock() - at if at else 0.0
    return ahead / _DAY if ahead > _JUMP_SECONDS else 0.0
