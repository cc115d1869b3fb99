"""Questions of two hops by a planner that knows the hops; `benchmarks/answers/research.py` asks all of them."""

from __future__ import annotations

import pytest

from benchmarks.answers.research import measure
from benchmarks.corpus import SETS


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(not (SETS / "hotpotqa-100").is_dir(), reason="HotpotQA is not there")
async def test_research_cites_both_documents_where_one_search_does_not() -> None:
    """By words alone, which is fast."""
    found = await measure(20, others=200, FOOTNOTE_EMBEDDER__KIND="hashing")
    one_search, research = found["one search"], found["research"]
    assert one_search["both documents cited"] <= 0.8
    assert research["both documents cited"] >= 0.9
    assert research["searches"]["most"] <= 4
    assert research["calls"]["most"] <= 6
