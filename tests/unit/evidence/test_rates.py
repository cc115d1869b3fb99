"""What the decision refuses and finds, on German questions of our own: the language that the embedder does not know."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from benchmarks.answers.evidence import judged_rows
from benchmarks.answers.evidence_sets import judged_set
from bot import settings
from bot.composition.laboratory import retrieval_laboratory
from rag_engine.steps.evidence import Settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.process
async def test_questions_about_other_things_are_found_and_answerable_ones_are_kept(tmp_path: Path) -> None:
    async with retrieval_laboratory(settings.read(), tmp_path) as laboratory:
        rows = await judged_rows(await judged_set("german"), laboratory)
    refused: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        refused[row.kind].append(row.probability < Settings().line and not row.by_sentence)
    shares = {kind: sum(found) / len(found) for kind, found in refused.items()}

    assert len(refused[""]) == 104
    assert shares[""] <= 0.08
    assert shares["off_topic"] >= 0.85
