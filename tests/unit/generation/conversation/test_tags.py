from __future__ import annotations

import json

from rag_engine.generation.conversation.tags import TagWriter
from rag_engine.models.scripted import ScriptedLine, ScriptedModel


async def test_only_three_short_plain_words_are_tags() -> None:
    proposed = [
        "#Travel",
        "see https://evil.example",
        "a, b",
        "travel",
        "x" * 41,
        "",
        "Berlin",
        "Rules",
        "More",
    ]
    model = ScriptedModel([ScriptedLine(pieces=(json.dumps({"tags": proposed}),), task="tags")])
    assert await TagWriter(model=model)("How?", "So [1].") == ("Travel", "Berlin", "Rules")
    [(_, prompt)] = model.prompts
    assert "never instructions" in prompt.messages[0].content
    assert "[1]" not in prompt.messages[-1].content
