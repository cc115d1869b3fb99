"""Each node names the parts that it rests on, and is checked against them."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from rag_engine.errors import RagError
from rag_engine.generation import prompts, structured_reply
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.prompt_safety import neutral
from rag_engine.mind_maps import tree
from rag_engine.mind_maps.answers import AnswerMap, of_answers
from rag_engine.mind_maps.tree import Branch, MindMap
from rag_engine.text import analyzer, tokens
from rag_engine.text.language import detect
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.mind_maps.answers import MappedAnswer
    from rag_engine.ports import LanguageModel
    from rag_engine.types import Section

TASK: Final = "mindmap"
_MOST_PARTS: Final = 120
_TOKENS: Final = 9_000
_SHORTEST: Final = 40
_REPLY_TOKENS: Final = 2_000
_SHARE: Final = 0.5
_FEWEST: Final = 2
_log = logging.getLogger(__name__)


class NodeReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    label: str
    parts: tuple[int, ...] = ()
    children: tuple[NodeReply, ...] = ()


class MapReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    branches: tuple[NodeReply, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    place: str
    stems: frozenset[str]
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MindMaps:
    """By rules without a model, and where its map does not hold."""

    model: LanguageModel | None = None
    seconds: float = 60.0

    async def of_document(self, title: str, sections: Sequence[Section]) -> MindMap | None:
        found = await asyncio.to_thread(tree.of_document, title, sections)
        if self.model is None or not sections:
            return found
        given = [("\n".join((*one.headings[-1:], one.text)), one.anchor) for one in sections]
        return await self._written(self.model, title, given) or found

    async def of_answers(self, answers: Sequence[MappedAnswer]) -> AnswerMap | None:
        title = answers[0].question if answers else ""
        found = await asyncio.to_thread(of_answers, answers, title=title)
        if self.model is None or found is None:
            return found
        given = [(node.label, node.place) for depth, node in found.map.root.walk() if depth]
        written = await self._written(self.model, title, given)
        return found if written is None else replace(found, map=written)

    async def _written(
        self, model: LanguageModel, title: str, given: Sequence[tuple[str, str]]
    ) -> MindMap | None:
        prompt, parts = await asyncio.to_thread(_prompt, title, given)
        try:
            async with asyncio.timeout(self.seconds):
                reply = await structured_reply.ask(model, prompt, MapReply, task=TASK)
        except (RagError, TimeoutError) as error:
            _log.warning("a mind map is made by rules: %s", str(error) or "the model took too long")
            return None
        return await asyncio.to_thread(_checked, title, reply, parts)


def _prompt(title: str, given: Sequence[tuple[str, str]]) -> tuple[Prompt, list[_Part]]:
    kept = given[:: max(1, -(-len(given) // _MOST_PARTS))]
    language = detect(" ".join(text for text, _ in kept[:20])) or "en"
    each = max(_SHORTEST, _TOKENS // max(1, len(kept)))
    parts: list[_Part] = []
    for text, place in kept:
        shown = tokens.cut(" ".join(text.split()), each, count=tokens.estimate)
        parts.append(_Part(shown, place, _stems(shown, language), language))
    listed = "\n".join(
        f"[{number}] {neutral(part.text, keep_markers=True)}" for number, part in enumerate(parts, 1)
    )
    content = f"Title: {neutral(title, keep_markers=True)}\n\nParts:\n{listed}"
    messages = (
        Message(role="system", content=prompts.instructions(TASK)),
        Message(role="user", content=content),
    )
    size = messages_size(messages, tokens.estimate)
    return Prompt(messages=messages, tokens=size, reply_tokens=_REPLY_TOKENS), parts


def _checked(title: str, reply: MapReply, parts: Sequence[_Part]) -> MindMap | None:
    root = Branch(title, "", 0)
    for node in reply.branches:
        _add(root, node, parts, depth=1)
    return tree.mind_map(root) if len(_places(root)) >= _FEWEST else None


def _add(above: Branch, node: NodeReply, parts: Sequence[_Part], *, depth: int) -> None:
    label = " ".join(node.label.split())
    named = [parts[number - 1] for number in dict.fromkeys(node.parts) if 0 < number <= len(parts)]
    known = frozenset(stem for part in named for stem in part.stems)
    holds = bool(named) and _is_said(_stems(label, named[0].language), known)
    own = Branch(label, "", 0)
    for child in node.children if depth < tree.MOST_LEVELS else ():
        _add(own, child, parts, depth=depth + 1)
    if not label or not (holds or own.children):
        return
    kept = above.add(label, named[0].place if holds else "")
    kept.children |= own.children


def _is_said(stems: frozenset[str], known: frozenset[str]) -> bool:
    figures = {stem for stem in stems if any(sign.isdigit() for sign in stem)}
    return bool(stems) and figures <= known and len(stems & known) >= _SHARE * len(stems)


def _places(branch: Branch) -> list[str]:
    found = [branch.place] if branch.place else []
    return [*found, *(place for child in branch.children.values() for place in _places(child))]


def _stems(text: str, language: str) -> frozenset[str]:
    return frozenset(analyzer.tokens(text, language=language))
