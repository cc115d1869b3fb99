"""HTTP requests to this machine."""

from __future__ import annotations

import http.client
from contextlib import closing
from urllib.parse import urlsplit


def fetch(url: str) -> str:
    """The text at the address. Raises `OSError`."""
    status, text = answered(url)
    assert status == 200
    return text


def answered(url: str) -> tuple[int, str]:
    """Status and text, also of errors. Raises `OSError`."""
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)) as connection:
        connection.request("GET", parts.path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
