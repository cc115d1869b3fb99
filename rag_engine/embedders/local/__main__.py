"""The child process of `prepare`: lines of JSON, `{"kind": …, "text": …}`; the kind is `progress` or the name of the
error to raise.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_engine.embedders import _minilm
from rag_engine.embedders.local.graph import build, read_safetensors
from rag_engine.embedders.local.prepare import Order
from rag_engine.embedders.local.weights import find
from rag_engine.errors import RagError, StorageUnavailable

if TYPE_CHECKING:
    from collections.abc import Generator

_UNFINISHED: Final = ".unfinished"
_SECONDS_UNTIL_STALE: Final = 3600.0


def _say(text: str, *, kind: str = "progress") -> None:
    sys.stdout.write(json.dumps({"kind": kind, "text": text}) + "\n")
    sys.stdout.flush()


def _prepare(order: Order) -> None:
    found = find(Path(order.folder) if order.folder else None, download=order.download, report=_say)
    _say(f"preparing {_minilm.NAME} ({order.precision}) from {found.origin}")
    graph, tokenizer = Path(order.graph), Path(order.tokenizer)
    model = build(read_safetensors(found.weights), precision=order.precision).SerializeToString()
    with _translate_errors(graph.parent):
        graph.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(graph.parent)
        with _in_place(tokenizer) as unfinished:
            shutil.copyfile(found.tokenizer, unfinished)
        with _in_place(graph) as unfinished:
            unfinished.write_bytes(model)


@contextmanager
def _in_place(final: Path) -> Generator[Path]:
    """Renamed to `final` on success, for safe concurrent writes."""
    unfinished = final.with_name(f"{final.name}.{os.getpid()}{_UNFINISHED}")
    try:
        yield unfinished
        with unfinished.open("r+b") as written:
            os.fsync(written.fileno())
        unfinished.replace(final)
    finally:
        unfinished.unlink(missing_ok=True)


def _remove_stale(folder: Path) -> None:
    for leftover in folder.glob(f"*{_UNFINISHED}"):
        if time.time() - leftover.stat().st_mtime > _SECONDS_UNTIL_STALE:
            leftover.unlink(missing_ok=True)


@contextmanager
def _translate_errors(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StorageUnavailable(
            f"The embedding model cannot be written to {folder} ({error.strerror}); check its disk space and permissions."
        ) from error


def main() -> int:
    try:
        _prepare(Order(**json.loads(sys.argv[1])))
    except RagError as error:
        _say(str(error), kind=type(error).__name__)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
