from __future__ import annotations

from typing import Literal

ChannelSentence = Literal[
    "channel_announced",
    "channel_added",
    "channel_known",
    "channel_few",
    "channel_other_base",
    "channel_read",
    "channel_reading",
    "channel_unread_files",
    "channel_unreadable",
    "channel_opted_out",
    "channel_opted_in",
]
"""About channels as sources."""
