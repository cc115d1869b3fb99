from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from bot.port import Place

PLATFORM = "slack"
_PERMALINK_PATH = re.compile(r"/archives/([A-Z0-9]+)/p(\d{10})(\d{6})/?")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLink:
    channel: str
    ts: str
    thread: str = ""


def answer_place(workspace: str, channel: str, *, ts: str, root: str, direct: bool) -> Place:
    thread = root or ("" if direct else ts)
    return Place(platform=PLATFORM, workspace=workspace, channel=channel, thread=thread)


def is_direct(channel: str) -> bool:
    return channel.startswith("D")


def parse_link(address: str, workspace_url: str) -> MessageLink | None:
    parts = urlsplit(address.strip().strip("<>").partition("|")[0])
    match = _PERMALINK_PATH.fullmatch(parts.path)
    if match is None or parts.hostname != urlsplit(workspace_url).hostname:
        return None
    thread = parse_qs(parts.query).get("thread_ts", [""])[0]
    return MessageLink(channel=match[1], ts=f"{match[2]}.{match[3]}", thread=thread)
