from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rag_engine.sync.types import SourceRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

# It is only there with the extra `sftp`.
paramiko: Any = importlib.import_module("paramiko")

_FILES: Final = (Path("~/.ssh/known_hosts"), Path("/etc/ssh/ssh_known_hosts"))


class KnownHosts(paramiko.MissingHostKeyPolicy):
    """Refuses a host before it gets a password, unless its key is among those that ssh knows."""

    def missing_host_key(self, client: Any, hostname: str, key: Any) -> None:
        known = list(_known(hostname, key))
        if any(known):
            return
        if known:
            raise SourceRefused(
                f"The key of the host {hostname} is not the known one: somebody may be in between."
            )
        raise SourceRefused(
            f"The key of the host {hostname} is unknown: check it, and add it to ~/.ssh/known_hosts (`ssh-keyscan`)."
        )


def _known(hostname: str, key: Any) -> Iterator[bool]:
    for path in _FILES:
        if (file := path.expanduser()).is_file():
            hosts: Any = paramiko.HostKeys(str(file)).lookup(hostname) or {}
            if key.get_name() in hosts:
                yield hosts[key.get_name()] == key
