"""The graph of a knowledge base at the console: switched on and off, built, searched, and followed by added files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote


async def _legs(footnote: Footnote) -> list[list[str]]:
    found: list[dict[str, Any]] = json.loads(
        (await footnote("search", "Who owns Iron Gull?", "--json", "--kb", "ours")).out
    )
    return [[leg.get("expansion", "") for leg in hit["legs"]] for hit in found]


async def test_it_is_built_searched_and_switched_off(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "film.md").write_text("# Iron Gull\n\nIt was directed by Vera Lindqvist.", encoding="utf-8")
    (tmp_path / "birth.md").write_text("# Skagen\n\nHere lived Vera Lindqvist.", encoding="utf-8")
    assert (await footnote("add", "film.md", "--kb", "ours")).code == 0
    on = await footnote("kb", "graph", "ours", "on")
    assert "ours: graph on, by rules; passages read: 1, entities:" in on.out
    assert (await footnote("add", "birth.md", "--kb", "ours")).code == 0
    state = json.loads((await footnote("kb", "graph", "ours", "--json")).out)
    assert (state["state"], state["passages"], state["waiting"]) == ("on", 2, 0)
    assert ["graph" in legs for legs in await _legs(footnote)] == [True, True]
    card = json.loads((await footnote("about", "Vera Lindqvist", "--json", "--kb", "ours")).out)
    assert card["answer"].startswith("**Vera Lindqvist**\n\n**birth.md**\n\n- Here lived Vera Lindqvist. [1]")
    assert [citation["quote"] for citation in card["citations"]] == [
        "Here lived Vera Lindqvist.",
        "It was directed by Vera Lindqvist.",
    ]
    assert "graph off" in (await footnote("kb", "graph", "ours", "off")).out
    assert not any("graph" in legs for legs in await _legs(footnote))
