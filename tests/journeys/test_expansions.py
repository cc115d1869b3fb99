"""Summaries and made-up questions at the console: switched on after a yes, counted, and moved with their knowledge base."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

_TEXT = "\n\n".join(
    f"# Topic {number}\n\nThe harbour keeps a note on topic {number}. " + "It is kept for the record. " * 12
    for number in range(6)
)
_SAYS = "Zebra quagga okapi."
_REPLIES = json.dumps(
    [
        {"text": _SAYS, "task": "passage_summary", "pattern": "topic 4"},
        {"text": "A note on the harbour.", "task": "passage_summary"},
        {"text": "What does the harbour keep?", "task": "passage_questions"},
    ]
)
_MODEL = {"FOOTNOTE_MODEL__KIND": "scripted", "FOOTNOTE_MODEL__REPLIES": _REPLIES}


async def _found(footnote: Footnote, base: str) -> list[dict[str, Any]]:
    return json.loads((await footnote("search", _SAYS, "--json", "--kb", base, **_MODEL)).out)


async def test_they_are_made_found_and_moved(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(_TEXT, encoding="utf-8")
    assert (await footnote("add", "notes.md", "--kb", "ours")).code == 0
    unasked = await footnote("kb", "expand", "ours", "--summaries", "on", **_MODEL)
    assert unasked.code == 2
    assert "add --yes" in unasked.err
    without = await footnote("kb", "expand", "ours", "--summaries", "on", "--yes")
    assert "FOOTNOTE_MODEL__NAME" in without.err

    switched = await footnote("kb", "expand", "ours", "--summaries", "on", "--yes", **_MODEL)
    assert switched.code == 0, switched.err
    assert "about 6 calls of the language model" in switched.out
    assert "summaries: on, 6 passages have them, 0 failed" in switched.out
    best = (await _found(footnote, "ours"))[0]
    assert "topic 4" in best["text"]
    assert "summary" in [leg.get("expansion") for leg in best["legs"]]
    assert _SAYS not in json.dumps(best)

    assert (await footnote("kb", "export", "ours", "ours.zip")).code == 0
    assert (await footnote("kb", "import", "ours.zip", "--name", "copy", **_MODEL)).code == 0
    state = json.loads((await footnote("kb", "expand", "copy", "--json")).out)
    assert (state["summaries"], state["questions"], state["made"], state["failed"]) == ("on", "off", 6, [])
    assert "topic 4" in (await _found(footnote, "copy"))[0]["text"]

    assert (await footnote("kb", "reindex", "--all", **_MODEL)).code == 0
    assert "topic 4" in (await _found(footnote, "ours"))[0]["text"]

    off = await footnote("kb", "expand", "ours", "--summaries", "off", **_MODEL)
    assert "summaries: off" in off.out
    assert {leg.get("expansion") for hit in await _found(footnote, "ours") for leg in hit["legs"]} == {None}
