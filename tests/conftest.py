"""What every test gets: an environment without the developer's settings, and a data directory of its own."""

from __future__ import annotations

import gc
import itertools
import logging
import os
import re
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from rag_engine.parsers._ocr.limits import limits
from tests.hypothesis_profiles import load_profile

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

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

pytest_plugins = ["tests.workers", "tests.elastic.fixtures", "tests.markers"]

PROJECT = Path(__file__).parents[1]
SHARED = PROJECT.parent / "shared"
VOCABULARY = SHARED / "tiktoken"
_AUTHORITY = Path(__file__).parent / "authority.pem"
"""A client reads one certificate instead of the 140 of the system, which takes 20 ms of the processor each time. Its key is lost."""
_LEAVES = frozenset({"wheel", "torch", "process", "soak"})
"""Markers of tests that may start programs which download."""
_LOGGERS = (
    *("", "footnote", "bot", "rag_engine", "rag_engine.text.tokens"),
    *("adapters", "elasticsearch", "elastic_transport"),
)


# Modules and collected tests stay until the end: the garbage collector need not look at them again and again, nor as often as by default.
gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    gc.enable()
    if session.config.option.workers > 1 and any(
        item.get_closest_marker("process") for item in session.items
    ):
        from tests.doubles import commands  # which imports this module

        commands.prepare()  # once for all workers


_folders: dict[Path, pytest.Collector] = {}


@pytest.hookimpl(wrapper=True)
def pytest_collect_directory(path: Path) -> Generator[None, pytest.Collector, pytest.Collector]:
    """One node for each folder: pytest 9.1 binds the fixtures of a `conftest.py` to the first node and makes another for some orders of arguments."""
    collected = yield
    return _folders.setdefault(path, collected)


_FAILED = pytest.StashKey[bool]()
_numbers = itertools.count()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[_FAILED] = item.stash.get(_FAILED, False) or report.failed
    return report


@pytest.fixture
def test_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the test may write; not made yet. Kept if the test fails."""
    name = re.sub(r"\W", "_", cast("pytest.Item", request.node).name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(_numbers)}"
    yield folder
    if folder.exists() and not cast("pytest.Item", request.node).stash.get(_FAILED, False):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tmp_path(test_folder: Path) -> Path:
    """Pytest's own lists all folders of the run before it makes one."""
    test_folder.mkdir(mode=0o700)
    return test_folder


@pytest.fixture(scope="session")
def run_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For what all workers share in this run."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if hasattr(request.config, "workerinput") else own


@pytest.fixture(scope="session")
def model_folder(run_folder: Path) -> Path:
    """A data directory for the default embedder, which takes a second of processor time to build its model."""
    folder = run_folder / "model"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(autouse=True)
def clean_environment(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, test_folder: Path
) -> None:
    """No settings, keys or proxies of the machine, no model hub, and nothing written outside the test's folder."""
    for name in list(os.environ):
        if name.upper().startswith(("FOOTNOTE_", "OPENAI_", "SLACK_", "DISCORD_", "ELASTICSEARCH_")) or (
            name.lower().endswith("_proxy")
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(test_folder / "data"))
    monkeypatch.setenv("HOME", str(test_folder / "home"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if not _LEAVES.intersection(mark.name for mark in request.node.iter_markers()):
        monkeypatch.setenv("SSL_CERT_FILE", str(_AUTHORITY))
    if VOCABULARY.is_dir():
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(VOCABULARY))


@pytest.fixture(autouse=True)
def clean_logging() -> Iterator[None]:
    """What a command of the test sets up for its log ends with the test."""
    root, loggers = logging.getLogger(), [logging.getLogger(name) for name in _LOGGERS]
    handlers, levels, raises = root.handlers.copy(), [each.level for each in loggers], logging.raiseExceptions
    yield
    root.handlers[:], logging.raiseExceptions = handlers, raises
    for logger, level in zip(loggers, levels, strict=True):
        if logger.level != level:  # setting it empties a cache of every logger
            logger.setLevel(level)


@pytest.fixture(autouse=True)
def fresh_recognition_limits() -> Iterator[None]:
    """Text recognition in a process of its own for each file: here many files are read in one."""
    token = limits.set(None)
    yield
    limits.reset(token)
