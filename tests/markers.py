"""Which markers each test gets, and which tests share a worker of `tests.workers`. A plug-in of pytest, loaded by `conftest.py`.

`elastic` and `process` follow from a test's folder and fixtures, `timing` from the clocks it reads. A unit test that starts a process carries `process` itself;
a test that starts one without the marker fails, so that `make quick` stays quick.
"""

from __future__ import annotations

import importlib.util
import subprocess
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from tests.workers import GROUP

if TYPE_CHECKING:
    from collections.abc import Generator

TESTS: Final = Path(__file__).parent
NO_TORCH: Final = "needs sentence-transformers (torch): make test-torch"

_PROCESS_FOLDERS: Final = frozenset({"faults", "journeys", "soak"})
_BOTH_PLATFORMS: Final = frozenset({"test_asking.py", "test_channel_sources.py", "test_logs.py"})
"""Journeys in chat that `make test` runs on both platforms; it runs the others on Slack, and `make soak` on Discord."""
_CLOCKS: Final = frozenset({"monotonic", "perf_counter", "process_time"})
_APART: Final = frozenset({"test_hostile_files.py", "test_ocr_pool.py", "test_ocr.py"})
"""Files whose tests share nothing and take long: each test may go to another worker."""

_started: list[str] = []
_chosen_markers: list[str] = []


def _record_starts() -> None:
    """An audit hook would be called at each import and each open file, too."""
    popen = cast("Any", subprocess.Popen)
    start = popen.__init__

    @wraps(start)
    def recorded(self: object, args: Any, *rest: Any, **options: Any) -> None:
        program = args if isinstance(args, str | bytes | Path) else next(iter(args), "")
        # `platform` runs `uname` once per process, for a header of the OpenAI SDK.
        if program != "uname":
            _started.append(str(program))
        start(self, args, *rest, **options)

    popen.__init__ = recorded


_record_starts()


@pytest.hookimpl(tryfirst=True)  # before markers are read and groups become part of names
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        _mark(item)
        if item.get_closest_marker("torch") and not runs_torch():
            item.add_marker(pytest.mark.skip(reason=NO_TORCH))
        item.stash[GROUP] = _group(item)
    items.sort(key=_rank)  # stable: within a folder the order stays


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Made files are no part of names."""
    is_content = isinstance(val, bytes) or (isinstance(val, str) and len(val) > 200)
    return argname if is_content else None


def pytest_configure(config: pytest.Config) -> None:
    _chosen_markers.append(config.option.markexpr)


def runs_torch() -> bool:
    """Whether the tests of torch are chosen and can run; importing it costs each worker ten seconds of processor time."""
    return (
        _chosen_markers in ([], ["torch"]) and importlib.util.find_spec("sentence_transformers") is not None
    )


def _mark(item: pytest.Item) -> None:
    folders = _place(item.path).parts[:-1]
    if "elastic" in folders or _uses_elasticsearch(item):
        item.add_marker(pytest.mark.elastic)
    elif _PROCESS_FOLDERS.intersection(folders):
        item.add_marker(pytest.mark.process)
    if "chat" in folders and item.path.name not in _BOTH_PLATFORMS and _platform(item) == "discord":
        item.add_marker(pytest.mark.soak)
    if isinstance(item, pytest.Function) and _CLOCKS.intersection(item.function.__code__.co_names):
        item.add_marker(pytest.mark.timing)


@cache
def _place(path: Path) -> Path:
    return path.relative_to(TESTS)


def _uses_elasticsearch(item: pytest.Item) -> bool:
    parameters = _parameters(item)
    is_of_contract = "elasticsearch" in [parameters.get("open_index"), parameters.get("module")]
    return is_of_contract or "elastic_node" in getattr(item, "fixturenames", ())


def _parameters(item: pytest.Item) -> dict[str, object]:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


def _platform(item: pytest.Item) -> str:
    parameters = _parameters(item)
    return next((str(parameters[name]) for name in ("town", "bot", "platform") if name in parameters), "")


def _group(item: pytest.Item) -> str:
    """All tests of a real Elasticsearch go to one worker, so do those that measure time; others go file by file."""
    if item.get_closest_marker("elastic"):
        return "elasticsearch"
    if item.get_closest_marker("timing"):
        return "timing"
    if item.path.name in _APART:
        return item.nodeid
    return f"{_place(item.path).as_posix()} {_platform(item)}".strip()


def _rank(item: pytest.Item) -> int:
    """Long groups first, so that no worker starts one when the others are done."""
    markers = ("elastic", "slow", "process")
    return next((rank for rank, name in enumerate(markers) if item.get_closest_marker(name)), len(markers))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """A worker inherits what was started before it."""
    _started.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    outcome = yield
    started = _started.copy()
    if started and not (item.get_closest_marker("process") or item.get_closest_marker("elastic")):
        pytest.fail(f"it starts a process and needs the marker `process`: {started[0]}", pytrace=False)
    return outcome
