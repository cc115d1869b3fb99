from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scripts.message_path import BEGIN, END, MOST_FILES, counted, markdown, measure, replaced

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_slack_message_passes_few_files_each_way(tmp_path: Path) -> None:
    found = await measure(tmp_path)
    assert found["in"][0].startswith("adapters/slack/")
    assert found["in"][-1] == "rag_engine/engine.py"
    assert found["out"][0].startswith("rag_engine/models/")
    assert found["out"][-1].startswith("adapters/slack/")
    assert len(found["in"]) <= MOST_FILES, found["in"]
    assert len(found["out"]) <= MOST_FILES, found["out"]


def test_the_section_of_a_page_is_replaced_and_its_timing_is_not_compared() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter"
    found = {"in": ["a.py"], "in_called": ["b.py"], "out": ["c.py"], "out_called": []}
    written = replaced(page, markdown(found))
    assert written.startswith(f"before\n{BEGIN}\n**In:")
    assert written.endswith(f"{END}\nafter")
    assert "1. `a.py`" in written
    assert counted(written) == counted(replaced(written, markdown({**found, "in_called": ["d.py"]})))
    assert counted(written) != counted(replaced(written, markdown({**found, "in": ["d.py"]})))
    with pytest.raises(ValueError, match="message path"):
        replaced("a page without the markers", "")
