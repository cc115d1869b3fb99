"""Fixtures for tests with a real Elasticsearch; where it cannot run they are skipped with one line, in CI they fail."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.elastic.distribution import Missing
from tests.elastic.node import keep_logs, shared_node, stop_shared_node

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.fixture(scope="session")
def elastic_node() -> str:
    """The URL of the session's one node; each test takes index names of its own."""
    return shared_node()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    return (yield from _skip_without_elasticsearch())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    return (yield from _skip_without_elasticsearch())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and (logs := keep_logs()):
        report.sections.append(("The logs of Elasticsearch", "\n".join(str(log) for log in logs)))
    return report


def pytest_sessionfinish() -> None:
    stop_shared_node()


def _skip_without_elasticsearch() -> Generator[None, object, object]:
    try:
        return (yield)
    except Missing as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))
