"""Discord's REST endpoints of the application: itself, its gateway, fresh links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.doubles.discord_double import payloads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.doubles.chat_server import Upload
    from tests.doubles.discord_double.server import DiscordServer


Arguments = dict[str, Any]


def application(server: DiscordServer, _arguments: Arguments, _files: Sequence[Upload]) -> Any:
    owner = next(iter(server.world.guilds.values())).owner
    return {
        "id": server.application_id,
        "name": server.bot.name,
        "icon": None,
        "description": "",
        "bot_public": server.public,
        "bot_require_code_grant": False,
        "verify_key": "00" * 32,
        "flags": server.application_flags,
        "owner": payloads.user(server.world.users[owner]),
        "team": None,
        "bot": payloads.user(server.bot),
        "approximate_guild_count": len(server.world.guilds),
        "redirect_uris": [],
    }


def gateway(server: DiscordServer, _arguments: Arguments, _files: Sequence[Upload]) -> Any:
    limit = {
        "total": 1000,
        "remaining": 1000 - server.gateway.identified,
        "reset_after": 0,
        "max_concurrency": 1,
    }
    return {"url": server.gateway_url, "shards": 1, "session_start_limit": limit}


def refresh_links(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    refreshed = []
    for url in arguments["attachment_urls"]:
        channel, identity = url.split("/attachments/")[1].split("/")[:2]
        found = server.world.attachments[identity]
        fresh = payloads.attachment(found, channel=channel, base_url=server.base_url, now=server.wall())
        refreshed.append({"original": url, "refreshed": fresh["url"]})
    return {"refreshed_urls": refreshed}
