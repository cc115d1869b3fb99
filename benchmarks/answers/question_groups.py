"""How well questions are grouped by what they ask: `python -m benchmarks.answers.question_groups`.

Purity: the share of questions in a group whose majority asks what they ask. Recall: the share of pairs of one need in one group.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from bot.composition import loader
from bot.settings import read
from rag_engine.steps.fuse import judge_of
from rag_engine.verified.best_match import QuestionMatcher
from rag_engine.verified.question_groups import GroupedQuestion, group_of

if TYPE_CHECKING:
    from rag_engine.ports import Embedder

SET = Path(__file__).parents[2] / "tests" / "answers" / "question_groups.toml"
ORDERS = 5


async def measured(embedder: Embedder, needs: list[list[str]], seed: int) -> tuple[float, float, int]:
    matcher = QuestionMatcher(embedder=embedder, contrast=judge_of(embedder).contrast)
    asked = [(need, text) for need, texts in enumerate(needs) for text in texts]
    random.Random(seed).shuffle(asked)
    vectors = await embedder.embed([text for _, text in asked], side="query")
    known: list[GroupedQuestion] = []
    for number, ((_, text), vector) in enumerate(zip(asked, vectors, strict=True)):
        group = await group_of(text, vector, known, matcher) or str(number)
        known.append(GroupedQuestion(text=text, group=group, vector=vector))
    groups: dict[str, list[int]] = {}
    for (need, _), each in zip(asked, known, strict=True):
        groups.setdefault(each.group, []).append(need)
    pure = sum(Counter(members).most_common(1)[0][1] for members in groups.values())
    pairs = [
        one.group == other.group
        for (a, one), (b, other) in itertools.combinations(
            zip([need for need, _ in asked], known, strict=True), 2
        )
        if a == b
    ]
    return pure / len(asked), sum(pairs) / len(pairs), len(groups)


async def main() -> None:
    halves = tomllib.loads(SET.read_text(encoding="utf-8"))
    halves["all"] = [need for half in tuple(halves.values()) for need in half]
    with tempfile.TemporaryDirectory() as folder:
        settings = read().model_copy(update={"data_dir": Path(folder)})
        async with loader.embedder(settings) as embedder:
            for name, needs in halves.items():
                runs = [await measured(embedder, needs, seed) for seed in range(ORDERS)]
                found = {
                    "questions": sum(map(len, needs)),
                    "needs": len(needs),
                    "groups": [run[2] for run in runs],
                    "purity": round(sum(run[0] for run in runs) / ORDERS, 4),
                    "recall": round(sum(run[1] for run in runs) / ORDERS, 4),
                }
                print(json.dumps({name: found}))


if __name__ == "__main__":
    asyncio.run(main())
