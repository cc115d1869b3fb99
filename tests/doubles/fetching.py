"""What a page on this machine says."""

from __future__ import annotations

import http.client
from contextlib import closing
from urllib.parse import urlsplit


def fetch(url: str) -> str:
    """The text at the address. Raises `OSError` when nobody answers there."""
    status, text = answered(url)
    assert status == 200
    return text


def answered(url: str) -> tuple[int, str]:
    """The status and the text, whatever they are. Raises `OSError` when nobody answers there."""
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)) as connection:
        connection.request("GET", parts.path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
