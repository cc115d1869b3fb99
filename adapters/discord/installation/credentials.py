from __future__ import annotations

import re
from typing import Final

from adapters.discord.installation.required_permissions import PORTAL
from bot.port import Credential, Installation

INSTALLATION: Final = Installation(
    first=f"Open {PORTAL}, create an application, and on its Bot page switch on Message Content Intent and choose Reset Token.",
    credentials=(
        Credential(
            setting="token",
            name="Bot Token",
            where="The token that is shown then, once:",
            pattern=re.compile(r"[\w-]+\.[\w-]+\.[\w-]+"),
            looks="it has three parts with dots between them",
        ),
    ),
)
