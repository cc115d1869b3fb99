"""Synonyms at the console: what they find, and where they do not reach."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

_FILLER = "\n\n".join(f"# Topic {number}\n\nA note on topic {number} of the harbour." for number in range(30))


async def _legs(footnote: Footnote, question: str, *bases: str) -> dict[str, list[str]]:
    """The legs that found a passage, by its text."""
    asked = [part for base in bases for part in ("--kb", base)]
    finished = await footnote("search", question, "--json", *asked)
    hits: list[dict[str, Any]] = json.loads(finished.out)
    return {hit["text"]: [leg["leg"] for leg in hit["legs"]] for hit in hits}


async def test_a_synonym_finds_without_adding_the_files_again(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text("Sabbaticals last ninety days.\n\n" + _FILLER, encoding="utf-8")
    (tmp_path / "other.md").write_text("A sabbatical in another place.\n", encoding="utf-8")
    assert (await footnote("add", "leave.md", "--kb", "ours")).code == 0
    assert (await footnote("add", "other.md", "--kb", "theirs")).code == 0
    printed = (await footnote("kb", "synonyms", "ours", "--add", "Heron = sabbatical")).out
    assert printed == "Heron = sabbatical\n"

    found = await _legs(footnote, "Heron", "ours", "theirs")
    words = [text for text, legs in found.items() if "lexical" in legs]
    assert len(words) == 1
    assert words[0].startswith("Sabbaticals last")
    assert "lexical" not in str(await _legs(footnote, "Heron", "theirs"))

    assert (await footnote("kb", "export", "ours", "ours.zip")).code == 0
    assert (await footnote("kb", "import", "ours.zip", "--name", "copy")).code == 0
    assert json.loads((await footnote("kb", "synonyms", "copy", "--json")).out) == [["Heron", "sabbatical"]]

    answer = json.loads((await footnote("ask", "How long does a Heron last?", "--kb", "ours", "--json")).out)
    assert "ninety days" in answer["answer"]

    assert (
        await footnote("kb", "synonyms", "ours", "--remove", "heron")
    ).out == "There are no synonyms in ours.\n"
    assert "lexical" not in str(await _legs(footnote, "Heron", "ours"))
    refused = await footnote("kb", "synonyms", "ours", "--add", "Heron")
    assert refused.code == 1
    assert "Synonyms are written like this" in refused.err
