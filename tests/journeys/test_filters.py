"""Filters at the command line, from the files to the trace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

BERLIN = (
    "---\nauthor: Anna Li\ndate: 2024-01-31\nteam: north\n---\nThe hotel in Berlin costs 120 euros a night.\n"
)
LONDON = "---\nauthor: Bob\ndate: 2025-03-01\n---\nThe hotel in London costs 180 euros a night.\n"


async def titles(footnote: Footnote, *arguments: str) -> list[str]:
    finished = await footnote("search", "hotel night", *arguments, "--json")
    assert finished.code == 0, finished.err
    hits: list[dict[str, Any]] = json.loads(finished.out)
    return sorted({hit["title"] for hit in hits})


async def test_files_are_searched_by_their_properties_and_tags(footnote: Footnote, tmp_path: Path) -> None:
    for name, text in (("berlin.md", BERLIN), ("london.md", LONDON)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert (await footnote("add", str(tmp_path / name), "--kb", "travel")).code == 0
    assert await titles(footnote) == ["berlin.md", "london.md"]
    for filter_, title in (
        ("author = 'anna li'", "berlin.md"),
        ("author contains bob", "london.md"),
        ("team:north", "berlin.md"),
        ("team ≠ north", "london.md"),
        ("after:2025", "london.md"),
        ("before:2025", "berlin.md"),
        ("in:london", "london.md"),
    ):
        assert await titles(footnote, "--filter", filter_) == [title], filter_
    tagged = await footnote("kb", "tag", "travel", "london.md", "--add", "Approved", "--add", "2025")
    assert (tagged.code, tagged.out) == (0, "2025\nApproved\n")
    assert await titles(footnote, "--filter", "tag:approved") == ["london.md"]

    asked = await footnote("ask", "What does the hotel cost a night? tag:approved", "--json")
    answer = json.loads(asked.out)
    assert "180 euros" in answer["answer"]
    assert answer["filter"] == "tag:approved"
    assert {citation["title"] for citation in answer["citations"]} == {"london.md"}
    shown = await footnote("ask", "What does the hotel cost a night? tag:approved")
    assert "Only: tag:approved" in shown.out
    traced = await footnote("trace")
    assert "only files with: tag:approved" in traced.out

    removed = await footnote("kb", "tag", "travel", "london.md", "--remove", "approved")
    assert removed.out == "2025\n"
    nothing = await footnote("search", "hotel", "--filter", "tag:approved")
    assert "No file matches the filter: tag:approved." in nothing.out
    unknown = await footnote("search", "hotel", "--filter", "dept:hr")
    assert unknown.code != 0
    assert "No file here has the property dept; there are:" in unknown.err
    broken = await footnote("search", "hotel", "--filter", "((")
    assert broken.code != 0
    assert "cannot be read: write it like type:pdf" in broken.err


async def test_a_search_can_begin_with_an_answer_that_cites_its_results(
    footnote: Footnote, tmp_path: Path
) -> None:
    (tmp_path / "hotels.md").write_text(
        "# Hotels\n\nA hotel night costs at most 140 euros.\n", encoding="utf-8"
    )
    assert (await footnote("add", "hotels.md")).code == 0
    shown = (await footnote("search", "What may a hotel night cost?", "--summary")).out
    answer, _, results = shown.partition("\n1. ")
    assert "140 euros [1]" in answer
    assert results.startswith("hotels.md")
    assert (await footnote("search", "hotel", "--summary", "--json")).code == 1
