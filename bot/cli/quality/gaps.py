"""`footnote gaps`: questions that were not answered, grouped by meaning."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.text import Text

from bot.access import permissions
from bot.cli._shared import options, terminal
from bot.composition import retrieval
from bot.conversation.gaps.gap_intake import GapIntake
from bot.conversation.gaps.gap_list import GapList, Operator
from bot.maintenance import data_files
from rag_engine.errors import UserError
from rag_engine.storage.sqlite.database import connect

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from bot.conversation.gaps.gap_list import ShownGap
    from bot.settings import Settings

EXAMPLE = """footnote gaps --since 14
footnote gaps --kb handbook --json
footnote gaps --done g3f9a1c20b7de"""

_DAY = 86_400.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_knowledge_bases(parser)
    parser.add_argument(
        "--since",
        type=options.positive,
        default=0,
        metavar="DAYS",
        help="only questions of the last DAYS days",
    )
    parser.add_argument(
        "--limit", type=options.positive, default=50, metavar="N", help="how many to list (50)"
    )
    parser.add_argument("--closed", action="store_true", help="list closed groups")
    parser.add_argument(
        "--done", default="", metavar="ID", help="close a group; it opens again if somebody asks again"
    )
    options.add_json(
        parser,
        "[{id, workspace, title, questions, count, this_week, last_week, reasons, knowledge_bases, last}]",
    )


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    async with (
        retrieval.base_components(settings) as parts,
        connect(
            settings.data_dir / data_files.CHAT, scripts=data_files.migrations()[data_files.CHAT]
        ) as chat,
    ):
        intake = GapIntake.over(chat, parts.storage.history, parts.embedder)
        await intake.update()
        if arguments.done:
            if not await intake.gaps.close(arguments.done, at=time.time()):
                raise UserError(f"There is no gap {arguments.done!r}; `footnote gaps` lists them.")
            return 0
        bases = await permissions.all_of(parts.storage.catalog)
        chosen = {permissions.find(bases, name).id for name in arguments.kb}
        found = await GapList(gaps=intake.gaps, history=intake.history).read(
            Operator(),
            since=time.time() - arguments.since * _DAY if arguments.since else 0.0,
            knowledge_bases=chosen or None,
            done=arguments.closed,
        )
    rows = [_row(each, {base.id: base.name for base in bases}) for each in found[: arguments.limit]]
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    _print(found[: arguments.limit])
    return 0


def _row(shown: ShownGap, names: Mapping[str, str]) -> dict[str, object]:
    return {
        "id": shown.gap.id,
        "workspace": ":".join(filter(None, (shown.gap.platform, shown.gap.workspace))),
        "title": shown.title,
        "questions": list(shown.questions),
        "count": shown.count,
        "this_week": shown.this_week,
        "last_week": shown.last_week,
        "reasons": dict(shown.reasons),
        "knowledge_bases": sorted(names[base] for base in shown.knowledge_bases if base in names),
        "last": datetime.fromtimestamp(shown.last_at, UTC).isoformat(timespec="seconds"),
    }


def _print(found: list[ShownGap]) -> None:
    console = terminal.console()
    for each in found:
        console.print(Text(f"{each.gap.id}  {each.title or '(only private questions)'}", style="bold"))
        reasons = ", ".join(f"{count} {why.replace('_', ' ')}" for why, count in each.reasons.items())
        trend = f"{each.this_week} this week, {each.last_week} the week before"
        times = "once" if each.count == 1 else f"{each.count} times"
        console.print(Text(f"  asked {times} ({reasons}), {trend}"))
        for question in each.questions[1:]:
            console.print(Text(f"  · {question}"))
    if not found:
        console.print(Text("Every question was answered, as far as is known."))
