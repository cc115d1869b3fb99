"""Discord's JSON: one function per kind of thing."""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.doubles.discord_double.world import (
    DIRECT,
    PRIVATE_THREAD,
    VOICE,
    permissions,
    permissions_in_guild,
)

if TYPE_CHECKING:
    from tests.doubles.discord_double.world import (
        Attachment,
        Channel,
        Guild,
        Member,
        Message,
        Role,
        User,
        World,
    )

SIGNING_KEY = b"links of the double"
LINK_SECONDS = 24 * 3600
HAS_THREAD = 1 << 5
Payload = dict[str, Any]


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def user(of: User) -> Payload:
    return {
        "id": of.id,
        "username": of.name,
        "global_name": None if of.bot else of.name,
        "discriminator": "0000",
        "avatar": None,
        "bot": of.bot,
        "public_flags": 0,
    }


def member(of: Member, *, with_user: bool = True) -> Payload:
    payload: Payload = {
        "roles": sorted(of.roles),
        "joined_at": moment(of.joined),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "nick": None,
        "avatar": None,
        "pending": False,
        "flags": 0,
        "communication_disabled_until": None,
    }
    return {**payload, "user": user(of.user)} if with_user else payload


def role(of: Role) -> Payload:
    return {
        "id": of.id,
        "name": of.name,
        "permissions": str(of.permissions),
        "position": of.position,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }


def channel(of: Channel, *, viewer: str) -> Payload:
    if of.kind == DIRECT:
        others = [user(recipient) for recipient in of.recipients if recipient.id != viewer]
        return {"id": of.id, "type": DIRECT, "last_message_id": _last(of), "flags": 0, "recipients": others}
    if of.parent is not None:
        return thread(of, viewer=viewer)
    assert of.guild is not None
    return {
        "id": of.id,
        "guild_id": of.guild.id,
        "type": of.kind,
        "name": of.name,
        "position": 0,
        "parent_id": None,
        "topic": None,
        "nsfw": False,
        "flags": 0,
        "rate_limit_per_user": 0,
        "last_message_id": _last(of),
        "permission_overwrites": [
            {"id": each.id, "type": each.kind, "allow": str(each.allow), "deny": str(each.deny)}
            for each in of.overwrites.values()
        ],
        **({"bitrate": 64_000, "user_limit": 0} if of.kind == VOICE else {}),
    }


def thread(of: Channel, *, viewer: str = "") -> Payload:
    assert of.guild is not None
    assert of.parent is not None
    payload: Payload = {
        "id": of.id,
        "guild_id": of.guild.id,
        "parent_id": of.parent.id,
        "owner_id": of.owner,
        "type": of.kind,
        "name": of.name,
        "message_count": len(of.messages),
        "total_message_sent": len(of.messages),
        "member_count": len(of.members),
        "rate_limit_per_user": 0,
        "flags": 0,
        "last_message_id": _last(of),
        "thread_metadata": {
            "archived": of.archived,
            "locked": of.locked,
            "auto_archive_duration": of.archive_minutes,
            "archive_timestamp": moment(of.created),
            "create_timestamp": moment(of.created),
            **({"invitable": True} if of.kind == PRIVATE_THREAD else {}),
        },
    }
    if viewer in of.members:
        payload["member"] = {
            "id": of.id,
            "user_id": viewer,
            "join_timestamp": moment(of.created),
            "flags": 0,
        }
    return payload


def _last(of: Channel) -> str | None:
    return of.messages[-1] if of.messages else None


def guild(of: Guild, world: World, *, viewer: str, members: bool) -> Payload:
    """GUILD_CREATE; without the members intent it lists only the client's own member."""
    channels = [each for each in world.channels.values() if each.guild is of and not each.deleted]
    seen = [each for each in channels if permissions(each, viewer)]
    listed = of.members.values() if members else [of.members[viewer]]
    return {
        **guild_summary(of),
        "joined_at": moment(of.members[viewer].joined),
        "large": False,
        "unavailable": False,
        "member_count": len(of.members),
        "members": [member(each) for each in listed],
        # all channels, also those the client cannot read
        "channels": [channel(each, viewer=viewer) for each in channels if not each.is_thread],
        "threads": [thread(each, viewer=viewer) for each in seen if each.is_thread and not each.archived],
        "presences": [],
        "voice_states": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def guild_summary(of: Guild) -> Payload:
    return {
        "id": of.id,
        "name": of.name,
        "owner_id": of.owner,
        "icon": None,
        "roles": [role(each) for each in of.roles.values()],
        "emojis": [],
        "stickers": [],
        "features": [],
        "preferred_locale": "en-US",
        "premium_tier": 0,
        "verification_level": 0,
        "default_message_notifications": 1,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "afk_timeout": 300,
        "afk_channel_id": None,
        "system_channel_id": of.system_channel or None,
        "system_channel_flags": 0,
    }


def signature(identity: str, expires: str) -> str:
    return hmac.new(SIGNING_KEY, f"{identity}:{expires}".encode(), hashlib.sha256).hexdigest()


def attachment(of: Attachment, *, channel: str, base_url: str, now: float) -> Payload:
    """Each link is signed again and expires after a day."""
    expires = f"{int(now + LINK_SECONDS):x}"
    signed = f"ex={expires}&is={int(now):x}&hm={signature(of.id, expires)}"
    url = f"{base_url}/attachments/{channel}/{of.id}/{quote(of.name)}?{signed}"
    payload: Payload = {
        "id": of.id,
        "filename": of.name,
        "size": len(of.content),
        "url": url,
        "proxy_url": url,
        "content_type": of.media_type,
    }
    if of.description:
        payload["description"] = of.description
    if of.seconds is not None:
        payload |= {"duration_secs": of.seconds, "waveform": "AAAA"}
    return payload


def message(
    of: Message, world: World, *, base_url: str, readable: bool = True, nested: bool = False
) -> Payload:
    """`readable`: with content; `nested`: without the message it replies to."""
    payload: Payload = {
        "id": of.id,
        "channel_id": of.channel.id,
        "type": of.kind,
        "author": user(of.author),
        "timestamp": moment(of.created),
        "edited_timestamp": None if of.edited is None else moment(of.edited),
        "tts": False,
        "pinned": False,
        "flags": of.flags | (HAS_THREAD if _has_thread(of, world) else 0),
        "mention_everyone": of.mention_everyone,
        "mentions": [user(each) for each in of.mentions],
        "mention_roles": list(of.mention_roles),
        "content": of.content if readable else "",
        "embeds": of.embeds if readable else [],
        "components": of.components if readable else [],
        "attachments": _attachments(of, world, base_url) if readable else [],
        "reactions": [
            {
                "emoji": {"id": None, "name": emoji},
                "count": len(who),
                "count_details": {"burst": 0, "normal": len(who)},
                "me": False,
                "me_burst": False,
                "burst_colors": [],
            }
            for emoji, who in of.reactions.items()
            if who
        ],
    }
    if of.nonce is not None:
        payload["nonce"] = of.nonce
    if _has_thread(of, world):
        payload["thread"] = thread(world.channels[of.id])
    if of.interaction is not None:
        payload |= {
            "webhook_id": of.interaction["application_id"],
            "application_id": of.interaction["application_id"],
            "interaction_metadata": of.interaction["metadata"],
        }
    return payload if nested else payload | _answered(of, world, base_url, readable=readable)


def _has_thread(of: Message, world: World) -> bool:
    """A forum post's first message has its id, but is in it."""
    return of.id in world.channels and of.channel.id != of.id


def _attachments(of: Message, world: World, base_url: str) -> list[Payload]:
    return [
        attachment(each, channel=of.channel.id, base_url=base_url, now=world.wall())
        for each in of.attachments
    ]


def _answered(of: Message, world: World, base_url: str, *, readable: bool) -> Payload:
    if of.reference is None:
        return {}
    channel_id, message_id = of.reference
    reference: Payload = {"type": 0, "channel_id": channel_id, "message_id": message_id}
    if of.channel.guild is not None:
        reference["guild_id"] = of.channel.guild.id
    found = world.messages.get(message_id)
    if found is None or found.deleted:
        return {"message_reference": reference, "referenced_message": None}
    referenced = message(found, world, base_url=base_url, readable=readable, nested=True)
    return {"message_reference": reference, "referenced_message": referenced}


def resolved_channel(of: Channel, user_id: str) -> Payload:
    """A channel option of a command."""
    payload = channel(of, viewer=user_id)
    payload["permissions"] = str(permissions(of, user_id))
    return payload


def interaction_member(of: Guild, user_id: str, in_channel: Channel) -> Payload:
    granted = permissions(in_channel, user_id) or permissions_in_guild(of, user_id)
    return {**member(of.members[user_id]), "permissions": str(granted)}
