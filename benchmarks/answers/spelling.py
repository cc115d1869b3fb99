"""How often words of judged questions are corrected: as they were asked (seldom rightly), and with one letter wrong.

python -m benchmarks.answers.spelling [--list] [SET ...]

"xquad-es:2" asks another quarter of XQuAD's questions than "xquad-es", from the third on.

Each answerable question is asked three times with a mistyped word that one of its passages holds: one letter is dropped, or two
are exchanged, or one is another, never the first. Passages are searched by words alone, so nothing is embedded. A correction is
right if the shown word has the stem of the one that was mistyped.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.answers.evidence_sets import BASE, judged_set
from bot import settings
from bot.composition.laboratory import retrieval_laboratory
from rag_engine.retrieval.queries.spelling_corrections import corrected_words
from rag_engine.retrieval.ranking.language_familiarity import word_check
from rag_engine.text.analyzer import query_tokens, tokens, words
from rag_engine.text.chunk_text import searchable_text
from rag_engine.text.language import question_language
from rag_engine.text.language.stop_words import FUNCTION_WORDS
from rag_engine.types import Search

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.answers.evidence_sets import JudgedSet
    from bot.composition.laboratory import EvaluationComponents

_SETS: Final = ("german", "german-paragraphs", "xquad-es", "xquad-en")
_LANGUAGE: Final = {"german": "de", "german-paragraphs": "de", "xquad-es": "es", "xquad-en": "en"}
_SHORTEST: Final = 5
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_MISTAKES: Final = ("dropped", "exchanged", "another")


def _mistyped(word: str, mistake: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(word) - 1)
    if mistake == "dropped":
        return word[:place] + word[place + 1 :]
    if mistake == "exchanged":
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word[:place] + chance.choice(_LETTERS) + word[place + 1 :]


def _is_right(shown: str, meant: str) -> bool:
    return not set(query_tokens(shown)).isdisjoint(query_tokens(meant))


async def counted(judged: JudgedSet, laboratory: EvaluationComponents, *, is_listed: bool) -> Counter[str]:
    """Corrections of one set by kind and outcome."""
    is_word = word_check(laboratory.embedder.count_tokens)
    chance = random.Random(judged.name)
    held: dict[str, set[str]] = {}
    for document, sections in judged.documents:
        chunks = list(laboratory.splitter(document, sections))
        none = np.full(laboratory.embedder.dimensions, laboratory.embedder.dimensions**-0.5, np.float32)
        await laboratory.index.put(document, [(chunk, none) for chunk in chunks])
        held[document.id] = {
            word for chunk in chunks for word, _ in words(searchable_text(chunk), language=chunk.language)
        }
    counts: Counter[str] = Counter()

    async def corrected(text: str) -> Mapping[str, str]:
        search = Search(
            leg="lexical", tokens=query_tokens(text), knowledge_bases=frozenset({BASE}), limit=100
        )
        (ranking,) = await laboratory.index.search([search])
        return corrected_words(text, ranking, is_word=is_word)

    common = FUNCTION_WORDS[_LANGUAGE[judged.name]].split()
    for question in judged.questions:
        if question_language(question.text) != _LANGUAGE[judged.name]:
            continue
        counts["asked"] += 1
        found = await corrected(question.text)
        counts["asked, corrected"] += bool(found)
        for typed, shown in found.items() if is_listed else ():
            print(f"  {judged.name}: {typed} -> {shown}")
        answering = min(question.without.values(), key=len, default=frozenset[str]())
        said = {word for document in answering for word in held[document]}
        meant = [
            word
            for word, _ in words(question.text, language="")
            if word.isalpha() and len(word) >= _SHORTEST and word in said and word.casefold() not in common
        ]
        if question.kind or not meant:
            continue
        word = chance.choice(meant)
        for mistake in _MISTAKES:
            typed = _mistyped(word, mistake, chance)
            if is_word(typed) or set(tokens(typed, language="")) <= set(tokens(word, language="")):
                continue
            found = await corrected(question.text.replace(word, typed, 1))
            shown = found.get(typed, "")
            outcome = "kept" if not shown else "right" if _is_right(shown, word) else "wrong"
            counts[mistake] += 1
            counts[f"{mistake}, {outcome}"] += 1
            if is_listed and outcome != "right":
                print(f"  {judged.name}: {word} as {typed} -> {shown or '(kept)'}")
    return counts


async def main() -> None:
    is_listed = "--list" in sys.argv
    for name in [each for each in sys.argv[1:] if not each.startswith("-")] or _SETS:
        judged = await judged_set(name)
        with tempfile.TemporaryDirectory() as folder:
            async with retrieval_laboratory(settings.read(), Path(folder)) as laboratory:
                counts = await counted(judged, laboratory, is_listed=is_listed)
        print(f"{name}: {counts['asked']} asked, {counts['asked, corrected']} corrected")
        for mistake in _MISTAKES:
            outcomes = ", ".join(f"{counts[f'{mistake}, {one}']} {one}" for one in ("right", "wrong", "kept"))
            print(f"  a letter {mistake}: {counts[mistake]} questions, {outcomes}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
