"""`footnote keys`: API keys for programs: create, list, revoke."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.access.permissions import all_of, scope
from bot.cli._shared import options, terminal
from bot.composition.storage import storage as open_storage
from bot.maintenance import data_files
from bot.store.api_keys import ApiKeys
from rag_engine.errors import UserError
from rag_engine.storage.sqlite.database import connect

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bot.settings import Settings
    from bot.store.api_keys import ApiKey
    from rag_engine.types import KnowledgeBase

EXAMPLE = """footnote keys create wiki-search --kb handbook --kb policies
footnote keys list
footnote keys revoke wiki-search"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    create = actions.add_parser("create", help="create a key; it is shown only once")
    create.add_argument("name", metavar="NAME", help="what it is for")
    create.add_argument(
        "--kb",
        action="append",
        required=True,
        metavar="NAME",
        help="a knowledge base it may read; repeatable",
    )
    listed = actions.add_parser("list", help="names of the keys and what they may read")
    options.add_json(listed, "[{name, knowledge_bases, created}]")
    revoke = actions.add_parser("revoke", help="revoke a key immediately")
    revoke.add_argument("name", metavar="NAME")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    async with (
        open_storage(settings) as storage,
        connect(
            settings.data_dir / data_files.CHAT, scripts=data_files.migrations()[data_files.CHAT]
        ) as database,
    ):
        keys = ApiKeys(database)
        if arguments.action == "create":
            chosen = await scope(storage.catalog, arguments.kb)
            print(await keys.create(arguments.name, chosen.knowledge_bases))
        elif arguments.action == "revoke":
            if not await keys.revoke(arguments.name):
                raise UserError(f"There is no key named {arguments.name!r}; `footnote keys list` names them.")
        else:
            _print(await keys.all(), await all_of(storage.catalog), as_json=arguments.json)
    return 0


def _print(keys: Sequence[ApiKey], known: Sequence[KnowledgeBase], *, as_json: bool) -> None:
    names = {base.id: base.name for base in known}
    rows = [
        {
            "name": key.name,
            "knowledge_bases": sorted(names[each] for each in key.knowledge_bases if each in names),
            "created": datetime.fromtimestamp(key.created_at, UTC).isoformat(timespec="seconds"),
        }
        for key in keys
    ]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    console = terminal.console()
    for row in rows:
        reads = ", ".join(row["knowledge_bases"]) or "nothing any more"
        console.print(f"{row['name']}: reads {reads}; made {row['created']}", markup=False)
    if not rows:
        console.print(
            "There are no keys: `footnote keys create NAME --kb KNOWLEDGE-BASE` makes one.", markup=False
        )
