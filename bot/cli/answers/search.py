"""`footnote search`: find the passages that an answer would use."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from rich.text import Text

from bot.access.permissions import scope
from bot.cli._shared import options, terminal
from bot.composition import retrieval
from rag_engine.errors import UserError
from rag_engine.types import Hit, Query

if TYPE_CHECKING:
    from rich.console import Console

    from bot.access.permissions import Scope
    from bot.settings import Settings
    from rag_engine.types import Retrieval

EXAMPLE = """footnote search 'travel approval' --summary
footnote search 'travel approval' --limit 5 --legs lexical,dense --json"""

_EXCERPT = 300
_LEGS = {
    "lexical": "words",
    "dense": "meaning",
    "summary": "summary",
    "question": "made-up question",
    "graph": "shared names",
    "letters": "similar name",
}
_LEGEND = (
    "words: BM25, 0 without a common word, higher for rarer words. meaning: cosine similarity, 1 for the same meaning, about 0 for "
    "none in common. In parentheses the place in each of the two lists, from which the order above is made."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY")
    options.add_knowledge_bases(parser)
    options.add_filters(parser)
    parser.add_argument(
        "--limit", type=options.positive, default=10, metavar="N", help="how many passages (10)"
    )
    parser.add_argument(
        "--legs",
        type=_legs,
        default=("lexical", "dense"),
        metavar="LEGS",
        help="lexical, dense or lexical,dense (both)",
    )
    parser.add_argument(
        "--summary", action="store_true", help="also answer the query, with sources, above the passages"
    )
    options.add_json(parser, "[{rank, document, title, anchor, score, legs: [{leg, rank, score}], text}]")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.summary and arguments.json:
        raise UserError("--summary and --json exclude each other: footnote ask --json gives the answer.")
    if arguments.summary:
        places, found = await _summarised(arguments, settings)
    else:
        async with retrieval.searching(settings) as components:
            places = await scope(components.catalog, arguments.kb)
            found = await components.retriever.search(_query(arguments, places))
    if arguments.json:
        for notice in found.notices:  # scripts depend on the shape of standard output
            print(f"footnote: {notice}", file=sys.stderr)
        print(json.dumps([as_json(hit) for hit in found.hits], ensure_ascii=False, indent=2))
        return 0
    console = terminal.console()
    for hit in found.hits:
        _print(hit, console)
    if found.hits:
        console.print(Text(_LEGEND, style="dim"))
    else:
        console.print(f"Nothing was found in {places.name}.", markup=False)
    for notice in found.notices:
        console.print(Text(notice, style="yellow"))
    return 0


async def _summarised(arguments: argparse.Namespace, settings: Settings) -> tuple[Scope, Retrieval]:
    # What answers takes longer to import than a search takes.
    from bot.cli.answers.ask import print_answer
    from bot.composition.application import application

    async with application(settings) as composed:
        places = await scope(composed.catalog, arguments.kb)
        query = _query(arguments, places)
        found = await composed.engine.search(query)
        await print_answer(composed.engine, query)
    return places, found


def _query(arguments: argparse.Namespace, places: Scope) -> Query:
    return Query(
        text=arguments.query,
        knowledge_bases=places.knowledge_bases,
        scope=places.name,
        filters=tuple(arguments.filter),
        limit=arguments.limit,
        legs=arguments.legs,
    )


def as_json(hit: Hit) -> dict[str, object]:
    return {
        "rank": hit.rank,
        "document": hit.chunk.document,
        "title": hit.chunk.title,
        "anchor": hit.chunk.anchor,
        "score": round(hit.score, 6),
        "legs": [
            {"leg": leg.leg, "rank": leg.rank, "score": round(leg.score, 6)}
            | ({"expansion": leg.expansion} if leg.expansion else {})
            for leg in hit.legs
        ],
        "text": hit.chunk.text,
    }


def _legs(text: str) -> tuple[str, ...]:
    legs = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not legs or not {"lexical", "dense"}.issuperset(legs):
        raise argparse.ArgumentTypeError("must be lexical, dense or lexical,dense")
    return legs


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _print(hit: Hit, console: Console) -> None:
    legs = ", ".join(
        f"{_LEGS[leg.expansion or leg.leg]} {leg.score:.2f} ({_ordinal(leg.rank)})" for leg in hit.legs
    )
    place = " — ".join(part for part in (hit.chunk.title, hit.chunk.anchor) if part)
    console.print(Text.assemble((f"{hit.rank}. {place}", "bold"), (f"  {legs}", "dim")))
    text = " ".join(hit.chunk.text.split())
    console.print(Text(text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…"))
