from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, cast

if TYPE_CHECKING:
    from bot.messages.names import Sentence

WorkspaceSentence = Literal[
    "not_served",
    "an_admin",
    "an_admin_or_role",
    "operators_closed",
    "of_workspace",
    "read_by_workspace",
    "base_created_for_all",
    "base_created_unsearched",
    "base_for_all_elsewhere",
    "message_unreadable",
]
"""About a workspace, each also as `<name>_server`. No `Sentence`, so that the type checker asks for the platform."""

ServerSentence = Literal[
    "not_served_server",
    "an_admin_server",
    "an_admin_or_role_server",
    "operators_closed_server",
    "of_workspace_server",
    "read_by_workspace_server",
    "base_created_for_all_server",
    "base_created_unsearched_server",
    "base_for_all_elsewhere_server",
    "message_unreadable_server",
]

_WITH_SERVERS: Final = frozenset({"discord"})


def has_servers(platform: str) -> bool:
    return platform in _WITH_SERVERS


def sentence_on(platform: str, name: WorkspaceSentence) -> Sentence:
    return cast("Sentence", f"{name}_server" if has_servers(platform) else name)
