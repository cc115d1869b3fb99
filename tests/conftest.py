"""What every test gets: an environment without the developer's settings, and a data directory of its own."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from rag_engine.parsers._recognition_terms import terms

if TYPE_CHECKING:
    from collections.abc import Iterator

# How long an example takes says more about what else the machine does than about us.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# Read by huggingface_hub when it is imported, which may be before the first fixture runs.
os.environ["HF_HUB_OFFLINE"] = "1"

# Whatever is started in the background of a shell ignores Ctrl-C, and so would the programs that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.elastic.fixtures"]

PROJECT = Path(__file__).parents[1]
SHARED = PROJECT.parent / "shared"


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
def fresh_terms() -> Iterator[None]:
    """Text recognition in a process of its own for each file: here many files are read in one."""
    token = terms.set(None)
    yield
    terms.reset(token)
