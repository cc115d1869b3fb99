"""`footnote search`: retrieval only."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from bot import compose
from bot.access import scope
from rag_engine.types import Hit, Query

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings

_EXCERPT = 300


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the passages that an answer would be made from."""
    async with compose.application(settings) as application:
        places = await scope(application.catalog, arguments.kb)
        query = Query(
            text=arguments.query,
            knowledge_bases=places.knowledge_bases,
            scope=places.name,
            limit=arguments.limit,
            legs=arguments.legs,
        )
        found = await application.engine.search(query)
    if arguments.json:
        for notice in found.notices:  # the shape on standard output is one that scripts depend on
            print(f"footnote: {notice}", file=sys.stderr)
        print(json.dumps([as_json(hit) for hit in found.hits], ensure_ascii=False, indent=2))
        return 0
    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    for hit in found.hits:
        _print(hit, console)
    if not found.hits:
        console.print(f"Nothing was found in {places.name}.", markup=False)
    for notice in found.notices:
        console.print(Text(notice, style="yellow"))
    return 0


def as_json(hit: Hit) -> dict[str, object]:
    """A hit in the shape that scripts depend on."""
    return {
        "rank": hit.rank,
        "document": hit.chunk.document,
        "title": hit.chunk.title,
        "anchor": hit.chunk.anchor,
        "score": round(hit.score, 6),
        "legs": [{"leg": leg.leg, "rank": leg.rank, "score": round(leg.score, 6)} for leg in hit.legs],
        "text": hit.chunk.text,
    }


def _print(hit: Hit, console: Console) -> None:
    legs = ", ".join(f"{leg.leg} {leg.rank}" for leg in hit.legs)
    place = " — ".join(part for part in (hit.chunk.title, hit.chunk.anchor) if part)
    console.print(Text.assemble((f"{hit.rank}. {place}", "bold"), (f"  {hit.score:.3f} ({legs})", "dim")))
    text = " ".join(hit.chunk.text.split())
    console.print(Text(text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…"))
