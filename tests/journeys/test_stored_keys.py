"""A key is in the environment alone, and everything that is written is in the data directory."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from tests.doubles.model_servers import openai_server
from tests.doubles.model_servers.openai_server import refused, streamed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

KEY = "sk-plantedkeyofthemodel"
QUESTION = "How long is the notice period?"


def held(folder: Path, text: str) -> list[str]:
    """The files that contain the text."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if text.encode() in path.read_bytes()]


def written(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_no_key_is_stored_and_nothing_is_written_elsewhere(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "notice.md").write_text("# Notice\n\nThe notice period is four weeks.\n", encoding="utf-8")
    (tmp_path / "archives").mkdir()
    archives = [tmp_path / "archives" / name for name in ("export.zip", "backup.zip")]
    async with openai_server.serve() as server:
        server.on(refused(401, message=f"Incorrect API key provided: {KEY}"), times=1)
        server.on(streamed("Four weeks [1]."))
        keys = {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": KEY,
            "FOOTNOTE_RERANKER__KIND": "http",
            "FOOTNOTE_RERANKER__URL": server.base_url,
            "FOOTNOTE_RERANKER__API_KEY": KEY,
        }
        assert (await footnote("add", "notice.md", **keys)).code == 0
        for _ in range(2):
            assert (await footnote("ask", QUESTION, **keys)).code == 0
        assert (await footnote("kb", "export", "default", str(archives[0]), **keys)).code == 0
        assert (await footnote("backup", str(archives[1]), **keys)).code == 0
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    assert held(tmp_path / "data", QUESTION), "the premise: what is stored can be found"
    assert held(tmp_path / "data", KEY) == []
    for archive in archives:
        with zipfile.ZipFile(archive) as opened:
            assert [name for name in opened.namelist() if KEY.encode() in opened.read(name)] == []
    assert written(tmp_path) == {"notice.md", "archives", "data"}
    assert written(tmp_path / "archives") == {"export.zip", "backup.zip"}
