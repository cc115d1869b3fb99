"""Runs the tests in processes that are forked from one that has imported and collected everything: a plug-in of pytest, `--workers`.

The workers of pytest-xdist are new processes, and each imports and collects for itself, which takes 7 s of a processor. A forked one begins at once and shares
the memory of all that is loaded. It takes one group of tests after another, as `GROUP` in their stash says (default: one group for each file).
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
import warnings
from dataclasses import dataclass
from multiprocessing.connection import wait
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from ctypes import c_int
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess
    from multiprocessing.sharedctypes import Synchronized
    from types import FrameType

GROUP: Final = pytest.StashKey[str]()
"""Tests with the same one run in one worker, one after the other."""

_SHOWN_SECONDS: Final = 0.005
"""A set-up or end that passed in less is not reported: `--durations` shows none that is shorter."""
_NONE: Final = -1

_processes: Final = multiprocessing.get_context("fork")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=1, help="run the tests in so many forked processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    count = session.config.getoption("workers")
    if count < 2 or session.testsfailed or session.config.option.collectonly or not session.items:
        return None
    _Run(session).run(count)
    return True


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run that broke off has tests that did not run: those that failed are not all that must run again."""
    is_worker = hasattr(session.config, "workerinput")
    if exitstatus == pytest.ExitCode.INTERNAL_ERROR and not is_worker and session.config.cache is not None:
        session.config.cache.set("cache/lastfailed", {})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worker:
    process: ForkProcess
    messages: Connection
    running: c_int
    """The number of the test that runs, for a worker that dies in it."""


class _Run:
    """What the process that forks the workers knows, and they with it."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._groups = _groups(session.items)
        self._next_group: Synchronized[int] = _processes.Value("i", 0)
        self._stopped = cast("c_int", _processes.RawValue("i", 0))
        self._started = 0

    def run(self, count: int) -> None:
        if reporter := self._session.config.pluginmanager.getplugin("terminalreporter"):
            reporter.showfspath = False
        self._session.config._tmp_path_factory.getbasetemp()  # made once, for the folders of all workers
        workers = [self._start() for _ in range(min(count, len(self._groups)))]
        try:
            while workers:
                for ready in wait([each.messages for each in workers]):
                    worker = next(each for each in workers if each.messages is ready)
                    try:
                        self._receive(worker.messages.recv())
                    except EOFError:
                        workers.remove(worker)
                        workers += self._after(worker)
                self._stopped.value = bool(self._session.shouldfail or self._session.shouldstop)
        finally:
            for worker in workers:  # after Ctrl-C: each ends when it has nobody to report to
                worker.messages.close()
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _start(self, first: Sequence[int] = ()) -> _Worker:
        receiving, sending = _processes.Pipe(duplex=False)
        running = cast("c_int", _processes.RawValue("i", _NONE))
        work = _Work(self._session, sending, running, name=f"worker{self._started}")
        process = _processes.Process(target=work.run, args=(self._chosen(first), self._stopped))
        self._started += 1
        with warnings.catch_warnings():
            # The other threads are those of OpenBLAS and ONNX Runtime, which start new ones.
            warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
            process.start()
        sending.close()
        return _Worker(process=process, messages=receiving, running=running)

    def _chosen(self, first: Sequence[int]) -> Iterator[Sequence[int]]:
        """In a worker: the groups that it takes."""
        if first:
            yield first
        while True:
            with self._next_group.get_lock():
                number = self._next_group.value
                self._next_group.value += 1
            if number >= len(self._groups):
                return
            yield self._groups[number]

    def _receive(self, message: tuple[str, Any]) -> None:
        kind, content = message
        hook = self._session.config.hook
        if kind == "error":
            raise RuntimeError(content)
        if kind == "warning":
            hook.pytest_warning_recorded.call_historic(kwargs=content)
            return
        for each in content:
            report = hook.pytest_report_from_serializable(config=self._session.config, data=each)
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)

    def _after(self, worker: _Worker) -> list[_Worker]:
        """A new worker for the rest of the group, if this one died in a test."""
        worker.process.join()
        number = worker.running.value
        if number == _NONE:
            if worker.process.exitcode:
                raise RuntimeError(f"A worker died between tests: {_cause(worker.process.exitcode)}")
            return []
        item = self._session.items[number]
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed",
            longrepr=f"The worker died: {_cause(worker.process.exitcode)}",
            when="call",
        )
        item.ihook.pytest_runtest_logreport(report=report)
        group = next(group for group in self._groups if number in group)
        return [self._start(group[group.index(number) + 1 :])]


class _Work:
    """What a worker does, from its fork to its end."""

    def __init__(self, session: pytest.Session, messages: Connection, running: c_int, *, name: str) -> None:
        self._session, self._messages, self._running, self._name = session, messages, running, name
        self._reports: list[object] = []
        self._inherited: object = None

    def run(self, groups: Iterator[Sequence[int]], stopped: c_int) -> None:
        hook = self._session.config.hook
        try:
            self._begin()
            try:
                for group in groups:
                    for number, following in zip(group, [*group[1:], _NONE], strict=True):
                        if not stopped.value:
                            self._run(number, following)
            finally:
                hook.pytest_sessionfinish(session=self._session, exitstatus=self._session.testsfailed)
        except (KeyboardInterrupt, BrokenPipeError):
            return
        except BaseException:
            self._messages.send(("error", traceback.format_exc()))
            raise

    def _begin(self) -> None:
        config = self._session.config
        config.workerinput = {"workerid": self._name}  # as plug-ins know a worker of pytest-xdist
        plugins = config.pluginmanager
        if capture := plugins.getplugin("capturemanager"):
            # Its files have one position for all processes that inherited them. They stay open: what was imported may hold them.
            self._inherited, capture._global_capturing = capture._global_capturing, None
            capture.start_global_capturing()
            capture.suspend_global_capture()
        reporter = plugins.unregister(name="terminalreporter")
        if reporter is not None:  # pytest-timeout writes to it where everything waits
            plugins.register(SimpleNamespace(_tw=reporter._tw), "terminalreporter")
        folders = config._tmp_path_factory
        folders._basetemp = folders.getbasetemp() / self._name
        folders._basetemp.mkdir(mode=0o700)
        plugins.register(self)
        # With Python's own handler, asyncio would install another one for each event loop and put this one back.
        signal.signal(signal.SIGINT, _interrupt)

    def _run(self, number: int, following: int) -> None:
        items = self._session.items
        # What lasts for the session goes on after the last test of a group.
        nextitem = self._session if following == _NONE else items[following]
        self._running.value = number
        items[number].config.hook.pytest_runtest_protocol(item=items[number], nextitem=nextitem)
        self._running.value = _NONE
        self._messages.send(("reports", self._reports))
        self._reports = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed or report.duration >= _SHOWN_SECONDS:
            config = self._session.config
            self._reports.append(config.hook.pytest_report_to_serializable(config=config, report=report))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: object
    ) -> None:
        copied = warnings.WarningMessage(
            message=str(warning_message.message),
            category=warning_message.category,
            filename=warning_message.filename,
            lineno=warning_message.lineno,
        )
        arguments = {"warning_message": copied, "when": when, "nodeid": nodeid, "location": location}
        self._messages.send(("warning", arguments))


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _groups(items: Sequence[pytest.Item]) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for number, item in enumerate(items):
        groups.setdefault(item.stash.get(GROUP, str(item.path)), []).append(number)
    return list(groups.values())


def _cause(exitcode: int | None) -> str:
    return signal.Signals(-exitcode).name if exitcode and exitcode < 0 else f"it ended with {exitcode}"
