"""Tables are computed over after `kb reindex`, an export and import, a backup and restore, with the same answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import write_csv, write_sheets

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

HOURS = [("Name", "Project", "Hours"), ("Ana", "Atlas", 4), ("Ben", "Atlas", 6.5), ("Ana", "Comet", 3)]
PEOPLE = [("Name", "Office"), ("Ana", "Berlin"), ("Ben", "Lisbon")]
QUESTIONS = ("Total hours of people in the Berlin office", "How many hours were spent on Atlas?")


async def _answers(footnote: Footnote, **environment: str) -> list[object]:
    found: list[object] = []
    for question in QUESTIONS:
        answer = json.loads(
            (await footnote("table", question, "--json", "--kb", "office", **environment)).out
        )
        found.append([answer["computed"]["rows"], [one["quote"] for one in answer["citations"]]])
    return found


async def test_they_survive_what_moves_a_knowledge_base(footnote: Footnote, tmp_path: Path) -> None:
    write_csv(tmp_path / "hours.csv", HOURS)
    write_sheets(tmp_path / "people.xlsx", {"People": PEOPLE})
    assert (await footnote("add", "hours.csv", "people.xlsx", "--kb", "office")).code == 0
    before = await _answers(footnote)
    assert [rows for rows, _ in before] == [[[7]], [[10.5]]]
    assert (await footnote("kb", "reindex", "office")).code == 0
    assert await _answers(footnote) == before

    elsewhere = {"FOOTNOTE_DATA_DIR": str(tmp_path / "elsewhere")}
    assert (await footnote("kb", "export", "office", "office.zip")).code == 0
    assert (await footnote("kb", "import", "office.zip", **elsewhere)).code == 0
    assert await _answers(footnote, **elsewhere) == before

    restored = {"FOOTNOTE_DATA_DIR": str(tmp_path / "restored")}
    assert (await footnote("backup", "all.zip", **elsewhere)).code == 0
    assert (await footnote("restore", "all.zip", **restored)).code == 0
    assert await _answers(footnote, **restored) == before
