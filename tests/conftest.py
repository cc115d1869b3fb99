"""What every test gets: an environment without the developer's settings, and a data directory of its own."""

from __future__ import annotations

import logging
import os
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers._ocr.limits import limits
from tests.hypothesis_profiles import load_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

load_profile()

# Read by huggingface_hub when it is imported, which may be before the first fixture runs.
os.environ["HF_HUB_OFFLINE"] = "1"

# Hundreds of small databases are made and synchronised: in memory, where there is plenty, that takes no time of the disk.
_MEMORY = Path("/dev/shm")
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# Whatever is started in the background of a shell ignores Ctrl-C, and so would the programs that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.elastic.fixtures", "tests.markers"]

PROJECT = Path(__file__).parents[1]
SHARED = PROJECT.parent / "shared"
_LOGGERS = ("", "footnote", "bot", "rag_engine", "adapters", "elasticsearch", "elastic_transport")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings, keys or proxies of the machine, no model hub, and nothing written outside the test's folder."""
    for name in list(os.environ):
        if name.upper().startswith(("FOOTNOTE_", "OPENAI_", "SLACK_", "DISCORD_", "ELASTICSEARCH_")) or (
            name.lower().endswith("_proxy")
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if (SHARED / "tiktoken").is_dir():
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(SHARED / "tiktoken"))


@pytest.fixture(autouse=True)
def clean_logging() -> Iterator[None]:
    """What a command of the test sets up for its log ends with the test."""
    root, loggers = logging.getLogger(), [logging.getLogger(name) for name in _LOGGERS]
    handlers, levels, raises = root.handlers.copy(), [each.level for each in loggers], logging.raiseExceptions
    yield
    root.handlers[:], logging.raiseExceptions = handlers, raises
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@pytest.fixture(autouse=True)
def fresh_recognition_limits() -> Iterator[None]:
    """Text recognition in a process of its own for each file: here many files are read in one."""
    token = limits.set(None)
    yield
    limits.reset(token)
