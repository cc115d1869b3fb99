from __future__ import annotations

from pathlib import Path

import pytest

from scripts.message_path import BEGIN, END, MOST_FILES, counted, markdown, measure, replaced

PAGE = Path(__file__).parents[3] / "docs" / "architecture.md"


async def test_a_slack_message_passes_few_files_each_way(tmp_path: Path) -> None:
    found = await measure(tmp_path)
    assert found["in"][0].startswith("adapters/slack/")
    assert found["in"][-1] == "rag_engine/engine.py"
    assert found["out"][0].startswith("rag_engine/models/")
    assert found["out"][-1].startswith("adapters/slack/")
    assert len(found["in"]) <= MOST_FILES, found["in"]
    assert len(found["out"]) <= MOST_FILES, found["out"]
    page = PAGE.read_text(encoding="utf-8")
    is_current = counted(page) == counted(replaced(page, markdown(found)))
    assert is_current, "run `python -m scripts.message_path --write docs/architecture.md`"


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
