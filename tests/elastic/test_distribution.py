"""A node's distribution is built once and whole, also by several processes and after an interruption."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.elastic.distribution import made_once

if TYPE_CHECKING:
    from pathlib import Path


def test_what_an_interrupted_build_left_is_not_taken_for_a_whole_one(tmp_path: Path) -> None:
    def interrupted(folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made_once(tmp_path / "build", interrupted)
    made_once(tmp_path / "build", lambda folder: (folder / "all").touch())
    assert {path.name for path in (tmp_path / "build").iterdir()} == {"all", "whole"}


def test_of_several_who_need_it_at_once_one_builds_and_the_others_wait(tmp_path: Path) -> None:
    built: list[str] = []
    building, finish = threading.Event(), threading.Event()

    def build(folder: Path) -> None:
        building.set()
        assert finish.wait(5)
        built.append(folder.name)

    threads = [threading.Thread(target=made_once, args=(tmp_path / "build", build)) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert building.wait(5)
    finish.set()
    for thread in threads:
        thread.join(5)
    assert built == ["build"]
