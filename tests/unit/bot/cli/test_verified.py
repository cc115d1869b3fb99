"""`footnote verified list` names those of one knowledge base, or of all."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from bot import settings
from bot.cli.knowledge import verified
from bot.composition import application

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def test_without_a_name_all_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    chosen = settings.read().model_copy(update={"data_dir": tmp_path})
    parser = argparse.ArgumentParser()
    verified.add_arguments(parser)

    async def listed(*given: str) -> str:
        assert await verified.run(parser.parse_args(given), chosen) == 0
        return capsys.readouterr().out

    assert "There are no verified answers" in await listed("list")
    async with application.library(chosen) as library:
        for name in ("handbook", "kitchen"):
            await library.catalog.open(name, model=library.embedder.model)
    await listed("add", "handbook", "Who signs contracts?", "The legal team.")
    await listed("add", "kitchen", "Who cooks?", "Ada does.")
    everything = await listed("list")
    assert everything.index("handbook:") < everything.index("Who signs contracts?")
    assert everything.index("kitchen:") < everything.index("Who cooks?")
    assert '"knowledge_base": "kitchen"' in await listed("list", "--json")
    assert "Who cooks?" not in await listed("list", "handbook")
