from __future__ import annotations

import re
from typing import Final

from bot.port import Credential, Installation

_FILE: Final = "slack-manifest.yaml"

INSTALLATION: Final = Installation(
    first=f"Open https://api.slack.com/apps?new_app=1, choose “From a manifest”, and paste the file {_FILE}, "
    "which is in this folder now. Then choose Install to Workspace.",
    file=_FILE,
    credentials=(
        Credential(
            setting="bot_token",
            name="Bot User OAuth Token",
            where="Under OAuth & Permissions:",
            pattern=re.compile(r"xoxb-[A-Za-z0-9-]{6,}"),
            looks="it begins with xoxb-",
        ),
        Credential(
            setting="app_token",
            name="App-Level Token",
            where="Under Basic Information, generate one with the scope connections:write:",
            pattern=re.compile(r"xapp-[A-Za-z0-9-]{6,}"),
            looks="it begins with xapp-",
            unless="signing_secret",
        ),
    ),
)
