from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.graph.names import key_of, words_of
from rag_engine.graph.passages import chunks_at
from rag_engine.graph.types import entity_id
from rag_engine.text.lazy_pattern import lazy
from rag_engine.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rag_engine.graph.types import Alias, EntityId, EntityKind, GraphReader, NamedMention, PassageNumber
    from rag_engine.ports import IndexContents
    from rag_engine.types import Chunk, DocumentId, KnowledgeBaseId

_LONGEST_NAME: Final = 100
_MOST_PASSAGES: Final = 40
_MOST_DOCUMENTS: Final = 6
_OF_DOCUMENT: Final = 3
_LONGEST_SENTENCE: Final = 320
_MOST_RELATED: Final = 8
_COMMON: Final = 50
_ASKED: Final = lazy(
    lambda: re.compile(
        r"\s*+(?:/about\s++|about:\s*+"
        r"|what (?:do|can) (?:we|you|they) (?:know|say|tell me) about\s++|what is known about\s++|tell me (?:all|everything) about\s++"
        r"|was (?:wissen wir|weißt du|wisst ihr|ist bekannt|wissen sie) (?:über|von)\s++|was haben wir (?:über|zu)\s++"
        r"|que (?:savons-nous|sait-on|sais-tu|savez-vous) (?:de|du|des|sur)\s++|que (?:savons-nous|sait-on) d['’]"
        r"|¿?\s*+qué (?:sabemos|se sabe|sabes|saben) (?:de|del|sobre|acerca de)\s++"
        r"|(?:我们)?(?:对|關於|关于)(?=[^？?]{1,40}(?:了解|知道)))",
        re.IGNORECASE,
    )
)
_AFTER: Final = lazy(lambda: re.compile(r"(?:我们)?(?:都)?(?:了解|知道)(?:些|多少|哪些|什么|了?什么)*$"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CardStatement:
    """`text` occurs in the chunk word for word."""

    text: str
    chunk: Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCard:
    name: str
    kinds: tuple[EntityKind, ...]
    aliases: tuple[str, ...]
    statements: tuple[CardStatement, ...]
    related: tuple[str, ...]


def asked_entity(question: str) -> str:
    """The name in "what do we know about X", or empty."""
    found = _ASKED.match(question)
    if found is None:
        return ""
    rest = question[found.end() :].rstrip("?？!.。 \t\n\r\u00a0\u3000")
    if len(rest) > 2 * _LONGEST_NAME:
        return ""
    name = _AFTER.sub("", rest).strip(" \"'“”„«»「」《》")
    return name if len(name) <= _LONGEST_NAME else ""


async def card_of(
    name: str,
    graph: GraphReader,
    contents: IndexContents,
    knowledge_bases: Collection[KnowledgeBaseId],
    *,
    documents: Collection[DocumentId] | None = None,
) -> EntityCard | None:
    """None if they do not name it."""
    entities = await _entities(name, graph, knowledge_bases)
    if not entities:
        return None
    aliases = [alias for alias in await graph.aliases(entities) if alias.other not in entities]
    mentions = await graph.named(entities={*entities, *(alias.other for alias in aliases)})
    places = await graph.places({mention.passage for mention in mentions})
    allowed = {
        number: place
        for number, place in places.items()
        if place.knowledge_base in knowledge_bases and (documents is None or place.document in documents)
    }
    where = {number: place.document for number, place in allowed.items()}
    mentions = [each for each in mentions if each.passage in where and _holds(each, entities, aliases, where)]
    if not mentions:
        return None
    numbers = sorted(
        {each.passage for each in mentions}, key=lambda number: (where[number], allowed[number].ordinal)
    )
    numbers = numbers[:_MOST_PASSAGES]
    chunks = await chunks_at([allowed[number] for number in numbers], contents)
    statements = _statements(list(chunks.values()), list(dict.fromkeys(each.name for each in mentions)))
    shown = {statement.chunk.id for statement in statements}
    near = [number for number in numbers if allowed[number].chunk in shown]
    related = await _related(near, {each.entity for each in mentions}, graph)
    return _card(mentions, entities, statements, related) if statements else None


def _card(
    mentions: Sequence[NamedMention],
    entities: Collection[EntityId],
    statements: Sequence[CardStatement],
    related: Sequence[str],
) -> EntityCard:
    own = [each for each in mentions if each.entity in entities]
    aliases = {key_of(each.name): each.name for each in reversed(mentions) if each.entity not in entities}
    counts = Counter(each.name for each in own)
    return EntityCard(
        name=max(counts, key=lambda name: (counts[name], name)),
        kinds=tuple(dict.fromkeys(each.kind for each in own)),
        aliases=tuple(reversed(aliases.values())),
        statements=tuple(statements),
        related=tuple(related),
    )


async def _entities(
    name: str, graph: GraphReader, knowledge_bases: Collection[KnowledgeBaseId]
) -> set[EntityId]:
    for key in (key_of(name), *await _longer(name, graph, knowledge_bases)):
        ids = {entity_id(base, key) for base in knowledge_bases} if key else set["EntityId"]()
        if found := await graph.frequencies(ids, most=1):
            return {*found}
    return set()


async def _longer(name: str, graph: GraphReader, knowledge_bases: Collection[KnowledgeBaseId]) -> list[str]:
    words = f" {' '.join(words_of(name))} "
    if len(words) < 5:
        return []
    found = await graph.containing(knowledge_bases, words.strip(), limit=5)
    return [key for key in map(key_of, found) if words in f" {key} "]


def _holds(
    mention: NamedMention,
    entities: Collection[EntityId],
    aliases: Sequence[Alias],
    where: Mapping[PassageNumber, DocumentId],
) -> bool:
    return mention.entity in entities or any(
        alias.other == mention.entity and alias.document in (None, where[mention.passage])
        for alias in aliases
    )


def _statements(chunks: Sequence[Chunk], names: Sequence[str]) -> list[CardStatement]:
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names), re.IGNORECASE)
    found: dict[DocumentId, list[CardStatement]] = defaultdict(list)
    count: dict[DocumentId, int] = defaultdict(int)
    titles = {chunk.document: chunk.title for chunk in chunks}
    seen: set[str] = set()
    for chunk in chunks:
        for sentence in split_sentences(chunk.text):
            text = sentence.strip()
            if not pattern.search(text) or text in seen or len(text) <= len(names[0]) + 4:
                continue
            seen.add(text)
            count[chunk.document] += 1
            if len(found[chunk.document]) < _OF_DOCUMENT and len(text) <= _LONGEST_SENTENCE:
                found[chunk.document].append(CardStatement(text=text, chunk=chunk))
    best = sorted(found, key=lambda document: (-count[document], titles[document], document))
    return [statement for document in best[:_MOST_DOCUMENTS] for statement in found[document]]


async def _related(
    passages: Sequence[PassageNumber], known: Collection[EntityId], graph: GraphReader
) -> list[str]:
    beside: dict[EntityId, set[PassageNumber]] = defaultdict(set)
    for mention in await graph.entities_of(passages):
        if mention.entity not in known and not mention.is_subject:
            beside[mention.entity].add(mention.passage)
    frequency = await graph.frequencies(beside, most=_COMMON)
    best = sorted(beside, key=lambda entity: (-len(beside[entity]), frequency[entity], entity))[
        :_MOST_RELATED
    ]
    names = {each.entity: each.name for each in await graph.named(passages=passages)}
    stated = {each.other: each.text for each in await graph.statements(known, passages=passages)}
    return [f"{names[each]} ({stated[each]})" if each in stated else names[each] for each in best]
