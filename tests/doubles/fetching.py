"""What a page on this machine says."""

from __future__ import annotations

import http.client
from contextlib import closing
from urllib.parse import urlsplit


def fetch(url: str) -> str:
    """The text at the address. Raises `OSError` when nobody answers there."""
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)) as connection:
        connection.request("GET", parts.path)
        answer = connection.getresponse()
        assert answer.status == 200
        return answer.read().decode()
