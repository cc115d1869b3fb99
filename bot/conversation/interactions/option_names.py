"""What a person can choose while they write a command."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.commands.specs import QUESTIONS
from bot.port import ChatError
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.conversation.dependencies import AudienceLookup, FindNames, NameKind, PermissionChecks
    from bot.port import Command, Room

MOST: Final = 25
_SECONDS: Final = 2.0
_KINDS: Final[Mapping[str, NameKind]] = {"file": "title", "tag": "tag"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionNames:
    permissions: PermissionChecks
    audiences: AudienceLookup
    find: FindNames
    seconds: float = _SECONDS

    async def suggest(self, command: Command, option: str, room: Room) -> list[str]:
        """What the person may read; none if that takes too long."""
        kind = _KINDS.get(option)
        if kind is None or command.name not in QUESTIONS:
            return []
        text = " ".join(command.values.get(option, "").split())
        try:
            async with asyncio.timeout(self.seconds):
                self.permissions.admit(command.place)
                scope = await self.audiences.scope(command.place, room.directory, person=command.person)
                return await self.find(scope.knowledge_bases, kind=kind, text=text, limit=MOST)
        except (ChatError, RagError, TimeoutError) as error:
            _log.warning("no names could be suggested: %s", type(error).__name__)
            return []
